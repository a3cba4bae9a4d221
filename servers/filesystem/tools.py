"""A Unix-like disk at the hands of one ordinary user. It lives in tables and never touches the real disk."""

import hashlib
from datetime import timedelta
from fnmatch import fnmatchcase
from posixpath import basename, dirname, join
from typing import Any

from msgspec.json import encode
from msgspec.structs import replace

from prove.servers import Limit, Offset, Page, Query, Server, brief, matches, newest, page, read, require, table, write
from prove.servers.tools import Tool

from .paths import MAX_PATH, UMASK, Disk, at, inside, last_name, moved, octal, tar_size
from .records import (
    HERE, Algorithm, Anything, Bytes, Cell, Checksum, ColumnNumber, Comparison, Content, Counts, Days, Depth,
    Destination, Direction, Directory, Entry, EntryLine, Excerpt, Excerpts, File, FileName, Files, GroupName, Hidden,
    IgnoreCase, Kind, LastLine, LineCount, LineNumber, Link, Login, MatchLine, MemberLine, Mode, NewArchive, NewDirectory,
    NewFile, NewLink, NewName, NewText, OldText, Order, Overwrite, Parents, Path, Place, Quota, Recursive,
    Removed, Replaced, SearchText, Separator, Sources, Status, Tree, Usage,
)  # fmt: skip
from .texts import SEPARATORS, difference, ended, lines_of, text_of, whole_lines_of

MAX_SHOWN = 20_000  # characters of a file in one answer
MAX_DRAWN = 100  # entries of a tree
MAX_COMPARED = 400  # lines of a file
FOUND_AT_ONCE = 20


class Filesystem(Server):
    """Files, directories, links and archives of one user of a Unix-like computer."""

    category = "Productivity"

    logins = table(Login)
    entries = table(Entry)

    def look_up(self, tool: Tool, values: tuple[Any, ...]) -> None:
        """Paths are found by the tools: what they mean depends on the working directory."""

    # --- where things are

    @read
    def pwd(self) -> Place:
        """Show the working directory, the user and the home directory."""
        return brief(self._me, Place)

    @write(idempotent=True)  # for the absolute paths that ls and find give
    def cd(self, path: Directory) -> Place:
        """Change the working directory."""
        directory = self._disk.directory(path, "x")
        return brief(self.logins.update(self._me.user, directory=directory.path), Place)

    @read
    def ls(
        self, path: Directory = HERE, hidden: Hidden = False, order: Order = "name", limit: Limit = 50, offset: Offset = 0
    ) -> Page[EntryLine]:
        """List what a directory holds."""
        top = self._disk.directory(path, "r").path
        held = newest(self.entries.where(folder=top), lambda e: e.modified) if order == "newest" else self._disk.children(top)
        if order == "largest":
            held.sort(key=lambda e: e.size, reverse=True)
        return page((e for e in held if hidden or not e.name.startswith(".")), limit, EntryLine, offset)

    @read
    def tree(self, path: Directory = HERE, depth: Depth = 2) -> Tree:
        """Draw what lies below a directory, level by level, and count it."""
        top = self._disk.directory(path, "rx")
        levels = [(e.path.count("/") - top.path.rstrip("/").count("/"), e) for e in self._disk.visible(top.path)]
        shown = [(level, e) for level, e in levels if level <= depth]
        drawn = ["  " * (level - 1) + e.name + ("/" if e.kind == "directory" else "") for level, e in shown[:MAX_DRAWN]]
        rest = [f"... and {len(shown) - MAX_DRAWN} more: draw one of the directories"] if len(shown) > MAX_DRAWN else []
        directories = sum(e.kind == "directory" for _, e in shown)
        return Tree(top.path, text_of(drawn + rest), len(shown) - directories, directories)

    @read
    def find(
        self,
        path: Directory = HERE,
        name: FileName = "*",
        kind: Kind | None = None,
        larger_than: Bytes | None = None,
        modified_within: Days | None = None,
        offset: Offset = 0,
    ) -> Page[EntryLine]:
        """Find entries anywhere below a directory by name, kind, size and time of change; twenty are shown at a time."""
        below = self._disk.visible(self._disk.directory(path, "rx").path)
        found = [e for e in below if fnmatchcase(e.name, name) and kind in (None, e.kind)]
        if larger_than is not None:
            found = [e for e in found if e.size > larger_than]
        if modified_within:
            found = [e for e in found if e.modified >= self.now - timedelta(days=modified_within)]
        return page(found, FOUND_AT_ONCE, EntryLine, offset)

    @read
    def stat(self, path: Anything) -> Status:
        """Show an entry's owner, group, mode, size and time of change; of a link, the link's own."""
        return brief(self._disk.entry(path, follow=False), Status)

    @read
    def read_link(self, path: Anything) -> Link:
        """Show where a symbolic link points, where it leads in the end, and whether anything is there."""
        link = self._disk.entry(path, follow=False)
        require(link.kind == "link", "invalid_argument", f"{link.path} is a {link.kind}, not a link")
        end = self._disk.locate(link.path)
        return Link(link.path, link.target, end, end in self.entries)

    @read
    def disk_usage(self, path: Directory = HERE) -> Usage:
        """Add up the files below a directory, leaving out what is in directories that are closed to the user."""
        top = self._disk.directory(path, "rx")
        below = list(self._disk.visible(top.path))
        directories = [e for e in below if e.kind == "directory"]
        closed = sum(not self._disk.may(d, "rx") for d in directories)
        return Usage(top.path, sum(e.size for e in below), len(below) - len(directories), len(directories), closed)

    @read
    def quota(self) -> Quota:
        """Show how much the user's own files take up, and how much more they may."""
        me, owned = self._me, self._disk.owned()
        used = sum(e.size for e in owned)
        return Quota(me.user, used, me.quota, me.quota - used, len(owned), me.entry_quota)

    # --- reading files

    @read
    def read_file(self, path: File) -> Excerpt:
        """Show the whole of a text file."""
        return _excerpt(self._disk.text(path), 1, None)

    @read
    def read_multiple_files(self, paths: Files) -> Excerpts:
        """Show several text files at once; all must be readable."""
        return Excerpts([_excerpt(self._disk.text(p), 1, None) for p in paths])

    @read
    def read_lines(self, path: File, first: LineNumber, last: LastLine) -> Excerpt:
        """Show a text file from one line to another, both included."""
        file = self._disk.text(path)
        require(first <= last, "invalid_argument", f"the first line, {first}, comes after the last, {last}")
        length = len(lines_of(file.data))
        require(first <= length, "not_found", f"{file.path} has no line {first}, only {length}")
        return _excerpt(file, first, last)

    @read
    def head(self, path: File, lines: LineCount = 10) -> Excerpt:
        """Show the first lines of a text file."""
        return _excerpt(self._disk.text(path), 1, lines)

    @read
    def tail(self, path: File, lines: LineCount = 10) -> Excerpt:
        """Show the last lines of a text file."""
        file = self._disk.text(path)
        return _excerpt(file, max(1, len(lines_of(file.data)) - lines + 1), None)

    @read
    def wc(self, path: File) -> Counts:
        """Count the line ends, words and bytes of a text file."""
        file = self._disk.text(path)
        return Counts(file.path, file.data.count("\n"), len(file.data.split()), file.size)

    @read
    def checksum(self, path: File, algorithm: Algorithm = "sha256") -> Checksum:
        """Compute the checksum of a file."""
        file = self._disk.file(path)
        content = encode(file.members) if file.members else file.data.encode()
        return Checksum(file.path, algorithm, hashlib.new(algorithm, content).hexdigest())

    @read
    def diff_files(self, old: File, new: File) -> Comparison:
        """Compare two text files line by line."""
        one, other = self._disk.text(old), self._disk.text(new)
        longest = max(len(lines_of(file.data)) for file in (one, other))
        require(longest <= MAX_COMPARED, "resource_exhausted", f"at most {MAX_COMPARED} lines can be compared, not {longest}")
        diff = difference(one.data, other.data, one.path, other.path)
        signs = [line[0] for line in diff[2:]]  # the first two lines name the files
        return Comparison(one.path, other.path, not diff, signs.count("+"), signs.count("-"), "\n".join(diff)[:MAX_SHOWN])

    @read
    def grep(
        self, text: SearchText, path: Anything, ignore_case: IgnoreCase = False, limit: Limit = 10, offset: Offset = 0
    ) -> Page[MatchLine]:
        """Show the lines that contain a plain text, in one file or in all text files below a directory."""
        fold = str.casefold if ignore_case else str
        numbered = ((f, n, line) for f in self._disk.texts(path) for n, line in enumerate(lines_of(f.data), 1))
        return page((MatchLine(f.path, n, line[:300]) for f, n, line in numbered if fold(text) in fold(line)), limit, MatchLine, offset)

    @read
    def search_files(self, query: Query, path: Directory = HERE, limit: Limit = 10, offset: Offset = 0) -> Page[EntryLine]:
        """Find the text files below a directory whose text contains all the given words."""
        top = self._disk.directory(path, "rx").path
        return page((f for f in self._disk.texts(top) if matches(query, f.data)), limit, EntryLine, offset)

    @read
    def cut_column(
        self, path: File, column: ColumnNumber, separator: Separator = "comma", limit: Limit = 50, offset: Offset = 0
    ) -> Page[Cell]:
        """Show one column of a text file, line by line."""
        file, mark = self._disk.text(path), SEPARATORS[separator]
        rows = [(number, line.split(mark)) for number, line in enumerate(lines_of(file.data), 1)]
        cells = [Cell(number, row[column - 1]) for number, row in rows if column <= len(row)]
        require(cells, "not_found", f"no line of {file.path} has a column {column} when split at each {separator}")
        return page(cells, limit, Cell, offset)

    # --- changing files

    @write
    def write_file(self, path: NewFile, content: Content, overwrite: Overwrite = False) -> Status:
        """Write a text file, either a new one or, with overwrite, in place of one that is there."""
        if not overwrite or self._disk.locate(path) not in self.entries:
            return self._create(self._new_file(path), data=ended(content))
        file = self._disk.text(path, "w")
        require(ended(content) != file.data, "conflict", f"{file.path} holds exactly this text already")
        return self._rewrite(file, ended(content))

    @write
    def append_file(self, path: File, content: Content) -> Status:
        """Add lines at the end of a text file."""
        file = self._disk.text(path, "w")
        return self._rewrite(file, ended(file.data) + ended(content))

    @write
    def insert_lines(self, path: File, before: LineNumber, content: Content) -> Status:
        """Insert lines into a text file, before the line with the given number."""
        file = self._disk.text(path, "rw")
        lines = whole_lines_of(file.data)
        require(before <= len(lines) + 1, "not_found", f"{file.path} has only {len(lines)} lines: use append_file to add at its end")
        return self._rewrite(file, ended("".join(lines[: before - 1])) + ended(content) + "".join(lines[before - 1 :]))

    @write
    def edit_file(self, path: File, old_text: OldText, new_text: NewText) -> Status:
        """Replace a text that occurs exactly once in a file."""
        file = self._disk.text(path, "rw")
        require(old_text != new_text, "invalid_argument", "old_text and new_text are the same")
        count = file.data.count(old_text)
        require(count, "not_found", f"{file.path} does not contain {old_text!r}")
        require(count == 1, "conflict", f"{file.path} contains {old_text!r} {count} times: give more of the text around the one you mean")
        return self._rewrite(file, file.data.replace(old_text, new_text))

    @write
    def replace_in_files(self, old_text: OldText, new_text: NewText, path: Directory = HERE, name: FileName = "*") -> Replaced:
        """Replace a text wherever it occurs in the text files below a directory whose name fits."""
        require(old_text != new_text, "invalid_argument", "old_text and new_text are the same")
        top = self._disk.directory(path, "rx").path
        found = [f for f in self._disk.texts(top) if fnmatchcase(f.name, name) and old_text in f.data]
        require(found, "not_found", f"no file named {name} below {top} contains {old_text!r}")
        for file in found:
            self._disk.demand(file, "w")
            self._rewrite(file, file.data.replace(old_text, new_text))
        return Replaced([f.path for f in found], sum(f.data.count(old_text) for f in found))

    @write(idempotent=True)
    def sort_file(self, path: File, direction: Direction = "ascending") -> Status:
        """Sort the lines of a text file in place."""
        file = self._disk.text(path, "rw")
        return self._rewrite(file, text_of(sorted(lines_of(file.data), reverse=direction == "descending")))

    @write
    def uniq_lines(self, path: File) -> Status:
        """Drop each line of a text file that is the same as the line before it."""
        file = self._disk.text(path, "rw")
        lines = lines_of(file.data)
        kept = [line for n, line in enumerate(lines) if n == 0 or line != lines[n - 1]]
        require(len(kept) < len(lines), "failed_precondition", f"no line of {file.path} repeats the one before it: sort_file it first")
        return self._rewrite(file, text_of(kept))

    @write(idempotent=True)
    def touch(self, path: NewFile) -> Status:
        """Make an empty file, or mark one that is there as changed just now."""
        entry = self.entries.find(self._disk.locate(path))
        if entry is None:
            return self._create(self._new_file(path))
        if not self._disk.owns(entry):
            self._disk.demand(entry, "w")
        return brief(self.entries.update(entry.path, modified=self.now), Status)

    # --- arranging things

    @write(idempotent=True)
    def mkdir(self, path: NewDirectory, parents: Parents = False) -> Status:
        """Make a directory."""
        if not parents:
            return self._make_directory(path)
        parts = path.split("/")
        for above in filter(None, ("/".join(parts[:n]) for n in range(1, len(parts) + 1))):
            if self._disk.locate(above) not in self.entries:
                self._make_directory(above)
        return brief(self._disk.directory(path, ""), Status)

    @write(destructive=True)
    def rmdir(self, path: Directory) -> Removed:
        """Remove an empty directory."""
        directory = self._disk.movable(path)
        require(directory.kind == "directory", "invalid_argument", f"{directory.path} is a {directory.kind}: use rm")
        held = self._disk.children(directory.path)
        require(not held, "failed_precondition", f"{directory.path} is not empty: it holds {', '.join(e.name for e in held[:5])}")
        return self._remove([directory])

    @write
    def cp(self, source: Anything, destination: Destination, recursive: Recursive = False) -> Status:
        """Copy a file, or with recursive a directory, into a directory or to a new path."""
        entry = self._disk.entry(source)
        require(recursive or entry.kind == "file", "invalid_argument", f"{entry.path} is a directory: copy it with recursive")
        place = self._disk.landing(destination, last_name(source, entry), entry.kind == "directory")
        require(not inside(place, entry.path), "invalid_argument", f"{place} is inside {entry.path} itself")
        copies = [entry, *self._disk.below(entry.path)]
        self._disk.demand_readable(copies)
        self._disk.afford(sum(e.size for e in copies), len(copies))
        mine = [replace(self._disk.as_mine(e), modified=self.now) for e in copies]
        return brief(self._add(moved(mine, entry.path, place))[0], Status)

    @write
    def mv(self, source: Anything, destination: Destination) -> Status:
        """Move a file, directory or link into a directory or to a new path."""
        entry = self._disk.movable(source)
        return self._move(entry, self._disk.landing(destination, entry.name, entry.kind == "directory"))

    @write
    def rename(self, path: Anything, new_name: NewName) -> Status:
        """Give a file, directory or link another name where it is."""
        entry = self._disk.movable(path)
        require("/" not in new_name, "invalid_argument", f"{new_name!r} has a / in it: give a name alone, or use mv")
        return self._move(entry, self._disk.vacant(join(entry.folder, new_name)))

    @write(destructive=True)
    def rm(self, path: Anything, recursive: Recursive = False) -> Removed:
        """Remove a file or a link, or with recursive a directory and all that is below it."""
        entry = self._disk.movable(path)
        is_directory = f"{entry.path} is a directory: use rmdir if it is empty, or recursive"
        require(recursive or entry.kind != "directory", "invalid_argument", is_directory)
        return self._remove([entry, *self._disk.below(entry.path)])

    @write(idempotent=True)
    def chmod(self, path: Anything, mode: Mode, recursive: Recursive = False) -> Status:
        """Set what owner, group and others may do with an entry."""
        entry, mode = self._disk.entry(path), octal(int(mode, 8))
        for each in [entry, *(self._disk.below(entry.path) if recursive else [])]:
            if each is not entry:  # its directory has the new mode already
                shut = f"with mode {mode} nobody could go on below {each.folder}: give directories r and x, as in 755"
                require(self._disk.may(self.entries.get(each.folder), "rx"), "invalid_argument", shut)
            if each.kind != "link":
                self._disk.demand_owner(each)
                self.entries.update(each.path, mode=mode)
        return brief(self.entries.get(entry.path), Status)

    @write(idempotent=True)
    def chgrp(self, path: Anything, group: GroupName) -> Status:
        """Give an entry of the user's own to another of their groups."""
        entry, groups = self._disk.entry(path), self._me.groups
        self._disk.demand_owner(entry)
        require(group in groups, "permission_denied", f"you are not in the group {group!r}, only in {', '.join(groups)}")
        return brief(self.entries.update(entry.path, group=group), Status)

    @write
    def create_symlink(self, link: NewLink, target: Anything) -> Status:
        """Make a symbolic link that points to an entry."""
        aim = self._disk.entry(target, follow=False)
        return self._create(self._disk.vacant(link), kind="link", mode="777", target=aim.path, size=len(aim.path.encode()))

    # --- archives

    @write
    def create_archive(self, archive: NewArchive, paths: Sources) -> Status:
        """Pack files, links, and directories with all that is below them, into a new tar archive."""
        require(archive.endswith(".tar"), "invalid_argument", f"{archive} does not end in .tar: call it {archive.rstrip('/')}.tar")
        where = self._disk.vacant(archive)
        members = tuple(m for p in paths for m in self._packed(self._disk.entry(p, follow=False)))
        names = [m.path for m in members]
        twice = next((n for n in names if names.count(n) > 1), None)
        require(twice is None, "conflict", f"two members of the archive would be called {twice!r}: rename one, or leave it out")
        return self._create(where, binary=True, members=members, size=tar_size(members))

    @read
    def list_archive(self, archive: File, limit: Limit = 20, offset: Offset = 0) -> Page[MemberLine]:
        """List what a tar archive holds."""
        return page((MemberLine(m.path, m.kind, m.size) for m in self._disk.archive(archive).members), limit, MemberLine, offset)

    @write
    def extract_archive(self, archive: File, destination: Directory = HERE) -> Page[EntryLine]:
        """Unpack all that a tar archive holds into a directory."""
        members = self._disk.archive(archive).members
        folder = self._disk.directory(destination, "w").path
        for top in members:
            if not top.folder:
                self._disk.vacant(join(folder, top.path))
        self._disk.afford(sum(m.size for m in members), len(members))
        return page(self._add([at(self._disk.as_mine(m), join(folder, m.path)) for m in members]), 50, EntryLine)

    # --- rules

    @property
    def _me(self) -> Login:
        return self.logins.one()

    @property
    def _disk(self) -> Disk:
        return Disk(self.entries, self._me)

    def _new_file(self, path: str) -> Path:
        """Where a file that is to be made will be: at the end of a link, if one stands there that leads nowhere."""
        require(not path.endswith("/"), "invalid_argument", f"{path} ends in / as directories do: leave that out to make a file")
        return self._disk.vacant(self._disk.locate(path))

    def _make_directory(self, path: str) -> Status:
        return self._create(self._disk.vacant(path, directory=True), kind="directory", mode=octal(0o777 & ~UMASK))

    def _create(self, path: Path, kind: Kind = "file", mode: Mode = "644", data: str = "", size: Bytes = 0, **more: object) -> Status:
        size = size or len(data.encode())
        self._disk.afford(size, 1)
        me = self._me
        made = Entry(path, dirname(path), basename(path), kind, me.user, me.groups[0], mode, size, self.now, data, **more)
        return brief(self._add([made])[0], Status)

    def _rewrite(self, file: Entry, text: str) -> Status:
        size = len(text.encode())
        if self._disk.owns(file):
            self._disk.afford(size - file.size)
        return brief(self.entries.update(file.path, data=text, size=size, modified=self.now), Status)

    def _add(self, entries: list[Entry]) -> list[Entry]:
        """Add an entry and what is below it; its directory has changed by that."""
        longest = max((e.path for e in entries), key=len)
        fits = f"{longest} would be {len(longest)} characters long and may be {MAX_PATH}: choose a shorter name, or a place less deep"
        require(len(longest) <= MAX_PATH, "invalid_argument", fits)
        self._stamp(entries[0].folder)
        return [self.entries.add(e) for e in entries]

    def _move(self, entry: Entry, place: Path) -> Status:
        require(not inside(place, entry.path), "invalid_argument", f"{place} is inside {entry.path} itself")
        if entry.kind == "directory" and dirname(place) != entry.folder:
            self._disk.demand(entry, "w")  # its ".." will be another
        moving = [entry, *self._disk.below(entry.path)]
        for each in moving:
            self.entries.remove(each.path)
        self._stamp(entry.folder)
        directory = self._me.directory
        if inside(directory, entry.path):  # who stands in a directory moves along with it
            self.logins.update(self._me.user, directory=place + directory.removeprefix(entry.path))
        return brief(self._add(moved(moving, entry.path, place))[0], Status)

    def _remove(self, entries: list[Entry]) -> Removed:
        """Remove an entry and what is below it, which follows it in the list."""
        top = entries[0]
        within = inside(self._me.directory, top.path)
        require(not within, "failed_precondition", f"the working directory is in {top.path}: cd elsewhere first")
        for each in entries:
            if each is not top:
                self._disk.demand(self.entries.get(each.folder), "r")
            self._disk.demand_movable(each)
        for each in entries:
            self.entries.remove(each.path)
        self._stamp(top.folder)
        return Removed(top.path, len(entries), sum(e.size for e in entries))

    def _stamp(self, folder: str) -> None:
        self.entries.update(folder, modified=self.now)

    def _packed(self, entry: Entry) -> list[Entry]:
        """An entry and what is below it, by paths relative to the entry's directory."""
        packed = [entry, *self._disk.below(entry.path)]
        self._disk.demand_readable(packed)
        return [at(e, e.path.removeprefix(entry.folder).lstrip("/")) for e in packed]


def _excerpt(file: Entry, first: int, last: int | None) -> Excerpt:
    lines = whole_lines_of(file.data)
    text = "".join(lines[first - 1 : last])
    too_long = f"that is more of {file.path} than the {MAX_SHOWN} characters that can be shown: read_lines shows a part"
    require(len(text) <= MAX_SHOWN, "resource_exhausted", too_long)
    return Excerpt(file.path, first, len(lines), text)
