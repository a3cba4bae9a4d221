"""What must hold on a disk after every call, and what its past looks like."""

from collections.abc import Iterator
from posixpath import basename, dirname

from .paths import MAX_PATH, tar_size
from .records import Entry
from .texts import lines_of
from .tools import Filesystem


def invariants(fs: Filesystem) -> Iterator[str]:
    for entry in fs.entries:
        yield from _of_entry(fs, entry)
    login = fs.logins.one()
    owned = [e for e in fs.entries if e.owner == login.user]
    if sum(e.size for e in owned) > login.quota or len(owned) > login.entry_quota:
        yield f"{login.user} is over the quota"
    standing = fs.entries.find(login.directory)
    if standing is None or standing.kind != "directory":
        yield f"the working directory {login.directory} is not there"


def _of_entry(fs: Filesystem, entry: Entry) -> Iterator[str]:
    path = entry.path
    if path != "/" and (entry.folder, entry.name) != (dirname(path), basename(path)):
        yield f"{path} is kept as {entry.name} in {entry.folder}"
    if len(path) > MAX_PATH:
        yield f"{path} is too long to be named"
    folder = fs.entries.find(entry.folder)
    if path != "/" and (folder is None or folder.kind != "directory"):
        yield f"{path} is in {entry.folder}, which is no directory"
    if (entry.kind == "link") != bool(entry.target) or (entry.kind == "link" and entry.size != len(entry.target.encode())):
        yield f"{path} is a {entry.kind} of {entry.size} bytes that points to {entry.target!r}"
    if entry.kind == "file" and not entry.binary and entry.size != len(entry.data.encode()):
        yield f"{path} has {len(entry.data.encode())} bytes, not {entry.size}"
    if entry.members and entry.size != tar_size(entry.members):
        yield f"{path} is an archive of {tar_size(entry.members)} bytes, not {entry.size}"
    if not (len(entry.mode) == 3 or (len(entry.mode) == 4 and entry.mode[0] == "1")):
        yield f"{path} has its mode kept as {entry.mode}"


def past(fs: Filesystem) -> Iterator[str]:
    users = {line.split(":")[0]: line.split(":")[5] for line in lines_of(fs.entries.get("/etc/passwd").data)}
    groups = {line.split(":")[0]: line.split(":")[3].split(",") for line in lines_of(fs.entries.get("/etc/group").data)}
    for entry in fs.entries:
        if entry.modified > fs.now:
            yield f"{entry.path} was changed in the future"
        if entry.owner not in users or entry.group not in groups:
            yield f"{entry.path} belongs to {entry.owner} and {entry.group}, whom the system does not know"
        if any(m.modified > entry.modified for m in entry.members):
            yield f"{entry.path} holds something that was changed after it was packed"
    login = fs.logins.one()
    if users.get(login.user) != login.home:
        yield f"the home of {login.user} is not the one in /etc/passwd"
    if {g for g, members in groups.items() if login.user in members} != set(login.groups):
        yield f"{login.user} is in other groups than /etc/group says"
    for log in fs.entries.where(folder="/var/log"):
        times = [line[:16] for line in lines_of(log.data)]
        if times != sorted(times) or (times and times[-1] > f"{log.modified:%Y-%m-%d %H:%M}"):
            yield f"{log.path} does not run in the order of time up to its last change"
