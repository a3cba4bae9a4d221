"""The disk itself: where a path leads, what a directory holds, and who may do what there."""

from collections.abc import Iterable, Iterator
from posixpath import basename, dirname, join

from msgspec.structs import replace

from prove.servers import Table, ToolError, require

from .records import Entry, Login, Mode, Path

MAX_LINKS = 16  # followed in one path before they are taken for a circle
MAX_NAME = 255  # bytes, as NAME_MAX
MAX_PATH = 255  # characters in all
TAR_BLOCK, TAR_RECORD = 512, 10240
RIGHTS = {"r": (4, "read"), "w": (2, "write to"), "x": (1, "enter")}
UMASK = 0o022  # what group and others may not do with what this user makes


class Disk:
    """The entries as one user reaches them."""

    def __init__(self, entries: Table[Entry], login: Login) -> None:
        self.entries, self.login = entries, login

    # --- from a path to an entry

    def locate(self, path: str, follow: bool = True) -> Path:
        """The true path of what `path` names, links on the way followed. Its last part need not exist.

        `follow` says whether a link in the last place is followed too; one with a slash behind it always is.
        """
        require(path, "invalid_argument", "the path is empty: say '.' for the working directory")
        require("\0" not in path, "invalid_argument", "no path has a NUL character in it: leave it out")
        as_directory = path.endswith(("/", "/."))
        here, todo, links = self._start(path), _parts(path), 0
        while todo:
            name = todo.pop(0)
            self.demand(self._directory_at(here), "x")
            if name == "..":
                here = dirname(here)
                continue
            above, here = here, join(here, name)
            entry = self.entries.find(here)
            require(entry or not todo, "not_found", f"there is no directory {here!r}")
            if entry and entry.kind == "link" and (todo or follow or as_directory):
                links += 1
                require(links <= MAX_LINKS, "failed_precondition", f"{path} runs in a circle of symbolic links: remove the link {here}")
                here, todo = "/" if entry.target.startswith("/") else above, _parts(entry.target) + todo
        if as_directory and here in self.entries:
            self._directory_at(here)
        return Path(here)

    def entry(self, path: str, follow: bool = True) -> Entry:
        """What is at a path. Raises `ToolError("not_found")`."""
        where = self.locate(path, follow)
        found = self.entries.find(where)
        if found is None:
            raise ToolError("not_found", f"there is no file or directory {where!r}: ls and find show what there is")
        return found

    def directory(self, path: str, right: str) -> Entry:
        """The directory at a path, which the user must have a right to."""
        found = self.entry(path)
        require(found.kind == "directory", "invalid_argument", f"{found.path} is a {found.kind}, not a directory")
        self.demand(found, right)
        return found

    def file(self, path: str, rights: str = "r") -> Entry:
        """The file at a path, which the user must have rights to."""
        found = self.entry(path)
        require(found.kind == "file", "invalid_argument", f"{found.path} is a {found.kind}, not a file")
        self.demand(found, rights)
        return found

    def text(self, path: str, rights: str = "r") -> Entry:
        """The text file at a path, which the user must have rights to."""
        found = self.file(path, rights)
        require(not found.binary, "invalid_argument", f"{found.path} is a binary file, not text")
        return found

    def archive(self, path: str) -> Entry:
        """The archive at a path, which the user must be able to read."""
        found = self.file(path)
        require(found.members, "invalid_argument", f"{found.path} is not a tar archive")
        return found

    def movable(self, path: str) -> Entry:
        """What a path names, a link itself, which the user may take out of its directory."""
        found = self.entry(path, follow=False)
        if path.endswith("/"):  # behind a link that would take what it points to, and leave the link
            named = self.entries.find(self.locate(path.rstrip("/") or "/", follow=False))
            hint = f"{path} ends in / and is a link, not a directory: leave that out to take the link itself"
            require(named is None or named.kind != "link", "invalid_argument", hint)
        by_name = basename(path.rstrip("/")) not in (".", "..")
        require(by_name, "invalid_argument", f"{path} only stands for {found.path}: give that path instead")
        self.demand_movable(found)
        return found

    def vacant(self, path: str, directory: bool = False) -> Path:
        """The true path of a place where the user may create something. Raises `ToolError("conflict")` if it is taken."""
        where = self.locate(path, follow=False)
        require(where not in self.entries, "conflict", f"there is already {where}: choose another name, or move or remove it first")
        slashed = path.endswith("/") and not directory
        require(not slashed, "not_found", f"there is no directory {where}: mkdir it first, or leave out the / at the end of {path}")
        require(len(basename(where).encode()) <= MAX_NAME, "invalid_argument", f"a name may have at most {MAX_NAME} bytes")
        self.demand(self.entries.get(dirname(where)), "w")
        return where

    def landing(self, destination: str, name: str, directory: bool) -> Path:
        """Where a thing called `name` would come to lie: in the directory `destination`, or else at that new path."""
        found = self.entries.find(self.locate(destination))
        if found and found.kind == "directory":
            return self.vacant(join(found.path, name))
        return self.vacant(destination, directory)

    def _start(self, path: str) -> str:
        if path == "~" or path.startswith("~/"):
            return self.login.home
        return "/" if path.startswith("/") else self.login.directory

    def _directory_at(self, path: str) -> Entry:
        found = self.entries.get(path)
        require(found.kind == "directory", "invalid_argument", f"{path} is a {found.kind}, not a directory: put no / behind it")
        return found

    # --- from a directory to what it holds

    def children(self, path: str) -> list[Entry]:
        """What a directory holds, by name."""
        return sorted(self.entries.where(folder=path), key=lambda e: e.name)

    def below(self, path: str) -> Iterator[Entry]:
        """Everything below a directory, a directory before what it holds. Links are not followed."""
        for child in self.children(path):
            yield child
            if child.kind == "directory":
                yield from self.below(child.path)

    def visible(self, path: str) -> Iterator[Entry]:
        """Everything below a directory, leaving out what is in directories that the user may not look into."""
        for child in self.children(path):
            yield child
            if child.kind == "directory" and self.may(child, "rx"):
                yield from self.visible(child.path)

    def texts(self, path: str) -> list[Entry]:
        """The text file at a path, or those below the directory there which the user may read."""
        if self.entry(path).kind == "file":
            return [self.text(path)]
        return [e for e in self.visible(self.directory(path, "rx").path) if e.kind == "file" and not e.binary and self.may(e, "r")]

    # --- permissions and quota

    def owns(self, entry: Entry) -> bool:
        return entry.owner == self.login.user

    def may(self, entry: Entry, rights: str) -> bool:
        """Whether the user has all of the rights, each "r", "w" or "x"."""
        digit = -3 if self.owns(entry) else -2 if entry.group in self.login.groups else -1
        return all(int(entry.mode[digit]) & RIGHTS[right][0] for right in rights)

    def demand(self, entry: Entry, rights: str) -> None:
        """Refuse unless the user has all of the rights. The owner is told that `chmod` would help."""
        for right in rights:
            if not self.may(entry, right):
                denied = f"you may not {RIGHTS[right][1]} {entry.path}, which has mode {entry.mode}"
                require(not self.owns(entry), "failed_precondition", f"{denied}: chmod it first")
                raise ToolError("permission_denied", f"{denied} and belongs to {entry.owner} and the group {entry.group}")

    def demand_owner(self, entry: Entry) -> None:
        require(self.owns(entry), "permission_denied", f"{entry.path} belongs to {entry.owner}: only its owner may do that")

    def demand_movable(self, entry: Entry) -> None:
        """Refuse unless the user may take an entry out of its directory, which in a sticky one only owners may."""
        require(entry.path != "/", "permission_denied", "/ is the root of the disk: it stays where it is")
        folder = self.entries.get(entry.folder)
        self.demand(folder, "wx")
        free = not is_sticky(folder) or self.owns(entry) or self.owns(folder)
        require(free, "permission_denied", f"{entry.path} belongs to {entry.owner}, and from {folder.path} only its owner may take it")

    def demand_readable(self, entries: Iterable[Entry]) -> None:
        """Refuse unless the user may read all of those files, and look into all of those directories."""
        for each in entries:
            if each.kind != "link":
                self.demand(each, "rx" if each.kind == "directory" else "r")

    def owned(self) -> list[Entry]:
        """What counts towards the user's quota."""
        return [e for e in self.entries if self.owns(e)]

    def afford(self, size: int, entries: int = 0) -> None:
        """Refuse unless the user's quota leaves room for so many more bytes and entries."""
        owned, quota, most = self.owned(), self.login.quota, self.login.entry_quota
        left, places = quota - sum(e.size for e in owned), most - len(owned)
        short = f"that takes {size} bytes and the quota of {quota} has {left} left: remove something first"
        require(size <= left, "resource_exhausted", short)
        full = f"that takes {entries} entries and the quota of {most} has {places} left: remove something first"
        require(entries <= places, "resource_exhausted", full)

    def as_mine(self, entry: Entry) -> Entry:
        """An entry as this user makes it after another one: theirs, and no more open than the umask allows."""
        mode = entry.mode if entry.kind == "link" else octal(int(entry.mode, 8) & 0o777 & ~UMASK)
        return replace(entry, owner=self.login.user, group=self.login.groups[0], mode=mode)


def is_sticky(directory: Entry) -> bool:
    return len(directory.mode) == 4


def octal(mode: int) -> Mode:
    """A mode as it is kept: 420 is "644", whatever zeros stood before it."""
    return f"{mode:03o}"


def inside(path: str, top: str) -> bool:
    """Whether a path is `top` or lies below it."""
    return path == top or path.startswith(top.rstrip("/") + "/")


def moved(entries: Iterable[Entry], old: str, new: str) -> list[Entry]:
    """The entries at or below the path `old` as they would be at or below `new`."""
    return [at(e, new + e.path.removeprefix(old)) for e in entries]


def at(entry: Entry, path: str) -> Entry:
    """An entry as it would be at another path."""
    return replace(entry, path=path, folder=dirname(path), name=basename(path))


def last_name(path: str, entry: Entry) -> str:
    """What a path calls an entry, if it ends in a name."""
    name = basename(path.rstrip("/"))
    return entry.name if name in ("", ".", "..", "~") else name


def tar_size(members: tuple[Entry, ...]) -> int:
    """The size of a tar archive: a header for each member and whole blocks for a file's bytes, two blocks at the end, in whole records."""
    blocks = 2 + sum(1 - (-m.size // TAR_BLOCK if m.kind == "file" else 0) for m in members)
    return -(-blocks * TAR_BLOCK // TAR_RECORD) * TAR_RECORD


def _parts(path: str) -> list[str]:
    names = path.split("/")
    return [n for n in (names[1:] if names[0] == "~" else names) if n not in ("", ".")]
