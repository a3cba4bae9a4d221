"""A Unix-like disk at the hands of one ordinary user. It lives in tables and never touches the real disk."""

import difflib
import hashlib
from collections.abc import Iterable
from datetime import timedelta
from fnmatch import fnmatchcase
from posixpath import basename, dirname, join
from typing import Annotated, Any, Literal

from msgspec.json import encode
from msgspec.structs import replace

from prove.servers import (
    Limit,
    Meta,
    Moment,
    Page,
    Query,
    Record,
    Server,
    brief,
    matches,
    page,
    read,
    require,
    table,
    write,
)
from prove.servers.tools import Tool
from servers.filesystem.paths import (
    Bytes,
    Disk,
    Entry,
    FileName,
    GroupName,
    Kind,
    Login,
    Mode,
    Path,
    inside,
    lines_of,
    tar_size,
    text_of,
)

_HOW = "an absolute path as ls and find show it, or one relative to the working directory or to ~"
Directory = Annotated[Path, Meta(description=f"a directory: {_HOW}")]
File = Annotated[Path, Meta(description=f"a file: {_HOW}")]
Anything = Annotated[Path, Meta(description=f"a file, directory or link: {_HOW}")]
Destination = Annotated[Path, Meta(description="a directory in which to put it, or a new path to give it")]
Files = Annotated[list[Path], Meta(min_length=1, max_length=10, description="the paths of text files")]
Sources = Annotated[list[Path], Meta(min_length=1, max_length=20, description="the paths of files and directories")]

NewDirectory = Annotated[str, Meta(min_length=1, max_length=200, description="the path of a directory that is to be made")]
NewFile = Annotated[str, Meta(min_length=1, max_length=200, description="the path of a file that is there or is to be made")]
NewLink = Annotated[str, Meta(min_length=1, max_length=200, description="the path of a link that is to be made")]
NewArchive = Annotated[str, Meta(pattern=r"\.tar$", max_length=200, description="the path of a new archive, ending in .tar")]
NewName = Annotated[str, Meta(pattern=r"^[^/]+$", max_length=255, description="a name without its directory")]

Content = Annotated[str, Meta(min_length=1, max_length=8000, description="text to write, of one or more lines")]
OldText = Annotated[str, Meta(min_length=1, max_length=2000, description="the exact text that is to be replaced")]
NewText = Annotated[str, Meta(max_length=2000, description="the text to put in its place")]
SearchText = Annotated[str, Meta(min_length=1, max_length=200, description="plain text to look for within a line")]
LineNumber = Annotated[int, Meta(ge=1, description="a line's number, counted from 1")]
LastLine = Annotated[int, Meta(ge=1, description="the number of the last line wanted")]
LineCount = Annotated[int, Meta(ge=1, le=500, description="how many lines")]
ColumnNumber = Annotated[int, Meta(ge=1, le=50, description="a column's number, counted from 1")]
Separator = Annotated[Literal["comma", "semicolon", "tab", "space", "colon"], Meta(description="what stands between columns")]
Algorithm = Annotated[Literal["md5", "sha1", "sha256"], Meta(description="which checksum")]
Order = Annotated[Literal["name", "largest", "newest"], Meta(description="what comes first")]
Direction = Annotated[Literal["ascending", "descending"], Meta(description="which way to sort")]
Days = Annotated[int, Meta(ge=1, le=3650, description="how many days back")]
Depth = Annotated[int, Meta(ge=1, le=6, description="how many levels to go down")]

Hidden = Annotated[bool, Meta(description="whether to show names that begin with a dot")]
IgnoreCase = Annotated[bool, Meta(description="whether capital and small letters count as the same")]
Overwrite = Annotated[bool, Meta(description="whether to replace a file that is there already")]
Parents = Annotated[bool, Meta(description="whether to make missing directories on the way too")]
Recursive = Annotated[bool, Meta(description="whether to take a directory with all that is below it")]

HERE = Path(".")
SEPARATORS = {"comma": ",", "semicolon": ";", "tab": "\t", "space": " ", "colon": ":"}
MAX_SHOWN = 20_000  # characters of a file in one answer
MAX_DRAWN = 100  # entries of a tree
MAX_COMPARED = 400  # lines of a file


class Place(Record):
    directory: Path
    user: str
    home: Path


class EntryLine(Record):
    path: Path
    name: FileName
    kind: Kind


class Status(Record):
    path: Path
    name: FileName
    kind: Kind
    owner: str
    group: GroupName
    mode: Mode
    size: Bytes
    modified: Moment


class Tree(Record):
    directory: Path
    drawing: str
    files: int
    directories: int


class Link(Record):
    path: Path
    target: str
    leads_to: Path
    exists: bool


class Usage(Record):
    path: Path
    size: Bytes
    files: int
    directories: int


class Quota(Record):
    user: str
    used: Bytes
    limit: Bytes
    left: Bytes
    entries: int
    entry_limit: int


class Excerpt(Record):
    path: Path
    first_line: int
    lines_in_file: int
    text: str


class Excerpts(Record):
    files: list[Excerpt]


class Counts(Record):
    path: Path
    lines: int
    words: int
    size: Bytes


class Checksum(Record):
    path: Path
    algorithm: Algorithm
    digest: str


class Comparison(Record):
    old: Path
    new: Path
    identical: bool
    added: int
    removed: int
    diff: str


class MatchLine(Record):
    path: Path
    line: LineNumber
    text: str


class Cell(Record):
    line: LineNumber
    value: str


class MemberLine(Record):
    member: str
    kind: Kind
    size: Bytes


class Replaced(Record):
    paths: list[Path]
    occurrences: int


class Removed(Record):
    path: Path
    entries: int
    freed: Bytes


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
    def ls(self, path: Directory = HERE, hidden: Hidden = False, order: Order = "name", limit: Limit = 50) -> Page[EntryLine]:
        """List what a directory holds."""
        held = self._disk.children(self._disk.directory(path, "r").path)
        shown = [e for e in held if hidden or not e.name.startswith(".")]
        if order != "name":
            shown.sort(key=lambda e: e.size if order == "largest" else e.modified, reverse=True)
        return page(shown, limit, EntryLine)

    @read
    def tree(self, path: Directory = HERE, depth: Depth = 2) -> Tree:
        """Draw what lies below a directory, level by level, and count it."""
        top = self._disk.directory(path, "rx")
        levels = [(e.path.count("/") - top.path.rstrip("/").count("/"), e) for e in self._disk.visible(top.path)]
        shown = [(level, e) for level, e in levels if level <= depth]
        drawing = text_of(["  " * (level - 1) + e.name + ("/" if e.kind == "directory" else "") for level, e in shown[:MAX_DRAWN]])
        directories = sum(e.kind == "directory" for _, e in shown)
        return Tree(top.path, drawing, len(shown) - directories, directories)

    @read
    def find(
        self,
        path: Directory = HERE,
        name: FileName = "*",
        kind: Kind | None = None,
        larger_than: Bytes | None = None,
        modified_within: Days | None = None,
        limit: Limit = 10,
    ) -> Page[EntryLine]:
        """Find entries anywhere below a directory by name, kind, size and time of change."""
        below = self._disk.visible(self._disk.directory(path, "rx").path)
        found = [e for e in below if fnmatchcase(e.name, name) and kind in (None, e.kind)]
        if larger_than is not None:
            found = [e for e in found if e.size > larger_than]
        if modified_within:
            found = [e for e in found if e.modified >= self.now - timedelta(days=modified_within)]
        return page(found, limit, EntryLine)

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
        """Add up the files below a directory."""
        top = self._disk.directory(path, "rx")
        below = list(self._disk.visible(top.path))
        directories = sum(e.kind == "directory" for e in below)
        return Usage(top.path, sum(e.size for e in below), len(below) - directories, directories)

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
        """Count the lines, words and bytes of a text file."""
        file = self._disk.text(path)
        return Counts(file.path, len(lines_of(file.data)), len(file.data.split()), file.size)

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
        before, after = lines_of(one.data), lines_of(other.data)
        longest = max(len(before), len(after))
        require(longest <= MAX_COMPARED, "resource_exhausted", f"at most {MAX_COMPARED} lines can be compared, not {longest}")
        diff = list(difflib.unified_diff(before, after, one.path, other.path, lineterm=""))
        signs = [line[0] for line in diff[2:]]  # the first two lines name the files
        return Comparison(one.path, other.path, before == after, signs.count("+"), signs.count("-"), "\n".join(diff)[:MAX_SHOWN])

    @read
    def grep(self, text: SearchText, path: Anything, ignore_case: IgnoreCase = False, limit: Limit = 10) -> Page[MatchLine]:
        """Show the lines that contain a plain text, in one file or in all text files below a directory."""
        fold = str.casefold if ignore_case else str
        numbered = ((f, n, line) for f in self._disk.texts(path) for n, line in enumerate(lines_of(f.data), 1))
        return page([MatchLine(f.path, n, line[:300]) for f, n, line in numbered if fold(text) in fold(line)], limit, MatchLine)

    @read
    def search_files(self, query: Query, path: Directory = HERE, limit: Limit = 10) -> Page[EntryLine]:
        """Find the text files below a directory whose text contains all the given words."""
        top = self._disk.directory(path, "rx").path
        return page((f for f in self._disk.texts(top) if matches(query, f.data)), limit, EntryLine)

    @read
    def cut_column(self, path: File, column: ColumnNumber, separator: Separator = "comma", limit: Limit = 50) -> Page[Cell]:
        """Show one column of a text file, line by line."""
        file, mark = self._disk.text(path), SEPARATORS[separator]
        rows = [(number, line.split(mark)) for number, line in enumerate(lines_of(file.data), 1)]
        cells = [Cell(number, row[column - 1]) for number, row in rows if column <= len(row)]
        require(cells, "not_found", f"no line of {file.path} has a column {column} when split at each {separator}")
        return page(cells, limit, Cell)

    # --- changing files

    @write
    def write_file(self, path: NewFile, content: Content, overwrite: Overwrite = False) -> Status:
        """Write a text file, either a new one or, with overwrite, in place of one that is there."""
        there = overwrite and self.entries.find(self._disk.locate(path))
        if not there:
            return self._create(self._disk.vacant(path), data=_ended(content))
        file = self._disk.text(path, "w")
        require(_ended(content) != file.data, "conflict", f"{file.path} holds exactly this text already")
        return self._rewrite(file, _ended(content))

    @write
    def append_file(self, path: File, content: Content) -> Status:
        """Add lines at the end of a text file."""
        file = self._disk.text(path, "w")
        return self._rewrite(file, _ended(file.data) + _ended(content))

    @write
    def insert_lines(self, path: File, before: LineNumber, content: Content) -> Status:
        """Insert lines into a text file, before the line with the given number."""
        file = self._disk.text(path, "rw")
        lines = lines_of(file.data)
        require(before <= len(lines) + 1, "not_found", f"{file.path} has only {len(lines)} lines: use append_file to add at its end")
        lines[before - 1 : before - 1] = lines_of(content)
        return self._rewrite(file, text_of(lines))

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
            return self._create(self._disk.vacant(path))
        self._disk.demand(entry, "w")
        return brief(self.entries.update(entry.path, modified=self.now), Status)

    # --- arranging things

    @write
    def mkdir(self, path: NewDirectory, parents: Parents = False) -> Status:
        """Make a directory."""
        parts = path.rstrip("/").split("/")
        above = ["/".join(parts[:n]) for n in range(1, len(parts))] if parents else []
        for missing in filter(None, above):
            if self._disk.locate(missing) not in self.entries:
                self._create(self._disk.vacant(missing), kind="directory", mode="755")
        return self._create(self._disk.vacant(path), kind="directory", mode="755")

    @write(destructive=True)
    def rmdir(self, path: Directory) -> Removed:
        """Remove an empty directory."""
        directory = self._disk.entry(path, follow=False)
        require(directory.kind == "directory", "invalid_argument", f"{directory.path} is a {directory.kind}: use rm")
        held = self._disk.children(directory.path)
        require(not held, "failed_precondition", f"{directory.path} is not empty: it holds {', '.join(e.name for e in held[:5])}")
        return self._remove([directory])

    @write
    def cp(self, source: Anything, destination: Destination, recursive: Recursive = False) -> Status:
        """Copy a file, or with recursive a directory, into a directory or to a new path."""
        entry = self._disk.entry(source)
        require(recursive or entry.kind == "file", "invalid_argument", f"{entry.path} is a directory: copy it with recursive")
        place = self._disk.landing(destination, entry.name)
        require(not inside(place, entry.path), "invalid_argument", f"{place} is inside {entry.path} itself")
        copies = [entry, *self._disk.below(entry.path)]
        self._demand_readable(copies)
        self._disk.afford(sum(e.size for e in copies), len(copies))
        mine = [replace(e, owner=self._me.user, group=self._me.groups[0], modified=self.now) for e in copies]
        return brief(self._add(_moved(mine, entry.path, place))[0], Status)

    @write
    def mv(self, source: Anything, destination: Destination) -> Status:
        """Move a file, directory or link into a directory or to a new path."""
        entry = self._disk.entry(source, follow=False)
        return self._move(entry, self._disk.landing(destination, entry.name))

    @write
    def rename(self, path: Anything, new_name: NewName) -> Status:
        """Give a file, directory or link another name where it is."""
        entry = self._disk.entry(path, follow=False)
        return self._move(entry, self._disk.vacant(join(entry.folder, new_name)))

    @write(destructive=True)
    def rm(self, path: Anything, recursive: Recursive = False) -> Removed:
        """Remove a file or a link, or with recursive a directory and all that is below it."""
        entry = self._disk.entry(path, follow=False)
        is_directory = f"{entry.path} is a directory: use rmdir if it is empty, or recursive"
        require(recursive or entry.kind != "directory", "invalid_argument", is_directory)
        return self._remove([entry, *self._disk.below(entry.path)])

    @write(idempotent=True)
    def chmod(self, path: Anything, mode: Mode, recursive: Recursive = False) -> Status:
        """Set what owner, group and others may do with an entry."""
        entry = self._disk.entry(path)
        for each in [entry, *(self._disk.below(entry.path) if recursive else [])]:
            self._disk.demand_owner(each)
            self.entries.update(each.path, mode=mode if each.kind != "link" else each.mode)
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
        """Pack files, and directories with all that is below them, into a new tar archive."""
        where = self._disk.vacant(archive)
        members = tuple(m for p in paths for m in self._packed(self._disk.entry(p)))
        names = [m.path for m in members]
        twice = next((n for n in names if names.count(n) > 1), None)
        require(twice is None, "conflict", f"two members of the archive would be called {twice!r}: rename one, or leave it out")
        return self._create(where, binary=True, members=members, size=tar_size(members))

    @read
    def list_archive(self, archive: File, limit: Limit = 20) -> Page[MemberLine]:
        """List what a tar archive holds."""
        return page((MemberLine(m.path, m.kind, m.size) for m in self._disk.archive(archive).members), limit, MemberLine)

    @write
    def extract_archive(self, archive: File, destination: Directory = HERE) -> Page[EntryLine]:
        """Unpack all that a tar archive holds into a directory."""
        members = self._disk.archive(archive).members
        folder = self._disk.directory(destination, "w").path
        for top in members:
            if not top.folder:
                self._disk.vacant(join(folder, top.path))
        self._disk.afford(sum(m.size for m in members), len(members))
        mine = [replace(m, owner=self._me.user, group=self._me.groups[0]) for m in members]
        return page(self._add([_at(m, join(folder, m.path)) for m in mine]), 50, EntryLine)

    # --- rules

    @property
    def _me(self) -> Login:
        return self.logins.one()

    @property
    def _disk(self) -> Disk:
        return Disk(self.entries, self._me)

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
        self._stamp(entries[0].folder)
        return [self.entries.add(e) for e in entries]

    def _move(self, entry: Entry, place: Path) -> Status:
        require(not inside(place, entry.path), "invalid_argument", f"{place} is inside {entry.path} itself")
        self._disk.demand(self.entries.get(entry.folder), "w")
        moving = [entry, *self._disk.below(entry.path)]
        for each in moving:
            self.entries.remove(each.path)
        self._stamp(entry.folder)
        directory = self._me.directory
        if inside(directory, entry.path):  # who stands in a directory moves along with it
            self.logins.update(self._me.user, directory=place + directory.removeprefix(entry.path))
        return brief(self._add(_moved(moving, entry.path, place))[0], Status)

    def _remove(self, entries: list[Entry]) -> Removed:
        """Remove an entry and what is below it, which follows it in the list."""
        top = entries[0]
        within = inside(self._me.directory, top.path)
        require(not within, "failed_precondition", f"the working directory is in {top.path}: cd elsewhere first")
        for each in entries:
            self._disk.demand(self.entries.get(each.folder), "w")
        for each in entries:
            self.entries.remove(each.path)
        self._stamp(top.folder)
        return Removed(top.path, len(entries), sum(e.size for e in entries))

    def _stamp(self, folder: str) -> None:
        self.entries.update(folder, modified=self.now)

    def _demand_readable(self, entries: Iterable[Entry]) -> None:
        for each in entries:
            if each.kind != "link":
                self._disk.demand(each, "rx" if each.kind == "directory" else "r")

    def _packed(self, entry: Entry) -> list[Entry]:
        """An entry and what is below it, by paths relative to the entry's directory."""
        packed = [entry, *self._disk.below(entry.path)]
        self._demand_readable(packed)
        return [_at(e, e.path.removeprefix(entry.folder).lstrip("/")) for e in packed]


def _at(entry: Entry, path: str) -> Entry:
    return replace(entry, path=path, folder=dirname(path), name=basename(path))


def _moved(entries: Iterable[Entry], old: str, new: str) -> list[Entry]:
    """The entries at or below the path `old` as they would be at or below `new`."""
    return [_at(e, new + e.path.removeprefix(old)) for e in entries]


def _ended(text: str) -> str:
    """A text with the newline that ends the last line of a text file."""
    return text if not text or text.endswith("\n") else f"{text}\n"


def _excerpt(file: Entry, first: int, last: int | None) -> Excerpt:
    lines = lines_of(file.data)
    text = text_of(lines[first - 1 : last])
    require(len(text) <= MAX_SHOWN, "resource_exhausted", f"that is more of {file.path} than the {MAX_SHOWN} characters that can be shown")
    return Excerpt(file.path, first, len(lines), text)
