"""The disk itself: its entries, where a path leads, and who may do what there. All of it lives in tables."""

from collections.abc import Iterator
from posixpath import basename, dirname, join
from typing import Annotated, Literal, NewType

from prove.servers import Meta, Moment, Record, Table, ToolError, require

Path = NewType("Path", str)

FileName = Annotated[
    str, Meta(min_length=1, max_length=255, description="a whole name; in a search, * and ? stand for any characters, as in *.csv")
]
Kind = Annotated[Literal["file", "directory", "link"], Meta(description="what sort of entry")]
Bytes = Annotated[int, Meta(ge=0, description="a size in bytes")]
Mode = Annotated[str, Meta(pattern=r"^[0-7]{3}$", description="what owner, group and others may do, in octal, for example 644")]
GroupName = Annotated[str, Meta(min_length=1, description="a group of users")]

MAX_LINKS = 16  # followed in one path before they are taken for a circle
MAX_NAME = 255
TAR_BLOCK, TAR_RECORD = 512, 10240
RIGHTS = {"r": (4, "read"), "w": (2, "write to"), "x": (1, "enter")}


class Entry(Record):
    path: Path
    folder: str  # the path of the directory that holds it, "" for the root
    name: FileName
    kind: Kind
    owner: str
    group: GroupName
    mode: Mode
    size: Bytes
    modified: Moment
    data: str = ""  # a text file's text; of any other file, something that stands for its bytes
    binary: bool = False
    target: str = ""  # where a link points
    members: "tuple[Entry, ...]" = ()  # what an archive holds, by paths relative to its top


class Login(Record):
    user: str
    groups: tuple[GroupName, ...]  # new entries get the first
    home: Path
    directory: Path  # the working directory
    quota: Bytes
    entry_quota: int


class Disk:
    """The entries as one user reaches them."""

    def __init__(self, entries: Table[Entry], login: Login) -> None:
        self.entries, self.login = entries, login

    # --- from a path to an entry

    def locate(self, path: str, follow: bool = True) -> Path:
        """The true path of what `path` names, links on the way followed. Its last part need not exist.

        `follow` says whether a link in the last place is followed too.
        """
        require(path, "invalid_argument", "the path is empty: say '.' for the working directory")
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
            if entry and entry.kind == "link" and (todo or follow):
                links += 1
                require(links <= MAX_LINKS, "failed_precondition", f"{path} runs in a circle of symbolic links: remove the link {here}")
                here, todo = "/" if entry.target.startswith("/") else above, _parts(entry.target) + todo
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

    def vacant(self, path: str) -> Path:
        """The true path of a place where the user may create something. Raises `ToolError("conflict")` if it is taken."""
        where = self.locate(path, follow=False)
        require(where not in self.entries, "conflict", f"there is already {where}: choose another name, or move or remove it first")
        require(len(basename(where)) <= MAX_NAME, "invalid_argument", f"a name may have at most {MAX_NAME} characters")
        self.demand(self.entries.get(dirname(where)), "w")
        return where

    def landing(self, destination: str, name: str) -> Path:
        """Where a thing called `name` would come to lie: in the directory `destination`, or else at that new path."""
        found = self.entries.find(self.locate(destination))
        return self.vacant(join(found.path, name) if found and found.kind == "directory" else destination)

    def _start(self, path: str) -> str:
        if path == "~" or path.startswith("~/"):
            return self.login.home
        return "/" if path.startswith("/") else self.login.directory

    def _directory_at(self, path: str) -> Entry:
        found = self.entries.get(path)
        require(found.kind == "directory", "invalid_argument", f"{path} is a {found.kind}, not a directory")
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
        digit = 0 if self.owns(entry) else 1 if entry.group in self.login.groups else 2
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


def inside(path: str, top: str) -> bool:
    """Whether a path is `top` or lies below it."""
    return path == top or path.startswith(top.rstrip("/") + "/")


def lines_of(text: str) -> list[str]:
    """The lines of a text, without their ends."""
    return text.removesuffix("\n").split("\n") if text else []


def text_of(lines: list[str]) -> str:
    """The text of some lines: each ends with a newline."""
    return "".join(f"{line}\n" for line in lines)


def tar_size(members: tuple[Entry, ...]) -> int:
    """The size of a tar archive: a header and whole blocks for each member, two blocks at the end, in whole records."""
    blocks = sum(1 - (-m.size // TAR_BLOCK) for m in members) + 2
    return -(-blocks * TAR_BLOCK // TAR_RECORD) * TAR_RECORD


def _parts(path: str) -> list[str]:
    names = path.split("/")
    return [n for n in (names[1:] if names[0] == "~" else names) if n not in ("", ".")]
