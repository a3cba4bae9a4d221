"""What a disk is made of: entries and a login; and what the tools show of them."""

from typing import Annotated, Literal, NewType

from prove.servers import Exact, Meta, Moment, Record, Unordered

Path = NewType("Path", str)

_HOW = "an absolute path as ls and find show it, or one relative to the working directory or to ~"
Directory = Annotated[Path, Meta(description=f"a directory: {_HOW}")]
File = Annotated[Path, Meta(description=f"a file: {_HOW}")]
Anything = Annotated[Path, Meta(description=f"a file, directory or link: {_HOW}")]
Destination = Annotated[Path, Meta(description="a directory in which to put it, or a new path to give it")]
Files = Annotated[Unordered[list[Path]], Meta(min_length=1, max_length=10, description="the paths of text files")]
Sources = Annotated[Unordered[list[Path]], Meta(min_length=1, max_length=20, description="the paths of files, directories and links")]

NewDirectory = Annotated[str, Meta(min_length=1, max_length=255, description="the path of a directory that is to be made")]
NewFile = Annotated[str, Meta(min_length=1, max_length=255, description="the path of a file that is there or is to be made")]
NewLink = Annotated[str, Meta(min_length=1, max_length=255, description="the path of a link that is to be made")]
NewArchive = Annotated[str, Meta(min_length=5, max_length=255, description="the path of a new archive, ending in .tar")]
NewName = Annotated[str, Meta(min_length=1, max_length=255, description="a name without its directory, so without a /")]
FileName = Annotated[
    str, Meta(min_length=1, max_length=255, description="a whole name; in a search, * and ? stand for any characters, as in *.csv")
]
UserName = Annotated[str, Meta(max_length=32, description="a user's name")]
GroupName = Annotated[str, Meta(min_length=1, max_length=32, description="a group of users")]
Kind = Annotated[Literal["file", "directory", "link"], Meta(description="what sort of entry")]
Bytes = Annotated[int, Meta(ge=0, le=10**12, description="a size in bytes")]
Mode = Annotated[
    str,
    Meta(
        pattern=r"^(0|1|01)?[0-7]{3}$",
        description="what owner, group and others may do, in octal, for example 644; a 1 before it makes a directory sticky",
    ),
]

Content = Annotated[
    Exact[str], Meta(min_length=1, max_length=8000, description="whole lines of text; where the last one has no line end, it gets one")
]
OldText = Annotated[Exact[str], Meta(min_length=1, max_length=2000, description="the exact text that is to be replaced")]
NewText = Annotated[Exact[str], Meta(max_length=2000, description="the text to put in its place")]
SearchText = Annotated[
    Exact[str], Meta(min_length=1, max_length=200, pattern=r"^[^\n]+$", description="plain text to look for within a line")
]
LineNumber = Annotated[int, Meta(ge=1, le=10**7, description="a line's number, counted from 1")]
LastLine = Annotated[int, Meta(ge=1, le=10**7, description="the number of the last line wanted")]
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
Parents = Annotated[bool, Meta(description="whether to make missing directories on the way too, and to take it well if all is there")]
Recursive = Annotated[bool, Meta(description="whether to take a directory with all that is below it")]

HERE = Path(".")


class Entry(Record):
    path: Path
    folder: str  # the path of the directory that holds it, "" for the root
    name: FileName
    kind: Kind
    owner: UserName
    group: GroupName
    mode: Mode  # three digits, or four where the first is a 1
    size: Bytes
    modified: Moment
    data: str = ""  # a text file's text; of any other file, something that stands for its bytes
    binary: bool = False
    target: str = ""  # where a link points
    members: "tuple[Entry, ...]" = ()  # what an archive holds, by paths relative to its top


class Login(Record):
    user: UserName
    groups: tuple[GroupName, ...]  # new entries get the first
    home: Path
    directory: Path  # the working directory
    quota: Bytes
    entry_quota: int


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
    owner: UserName
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
    closed: int  # how many of the directories could not be looked into


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
