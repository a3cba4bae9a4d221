"""What must hold on a disk after every call."""

from collections.abc import Iterator
from posixpath import basename, dirname

from servers.filesystem.paths import tar_size
from servers.filesystem.tools import Filesystem


def invariants(fs: Filesystem) -> Iterator[str]:
    for entry in fs.entries:
        path = entry.path
        if path != "/" and (entry.folder, entry.name) != (dirname(path), basename(path)):
            yield f"{path} is kept as {entry.name} in {entry.folder}"
        folder = fs.entries.find(entry.folder)
        if path != "/" and (folder is None or folder.kind != "directory"):
            yield f"{path} is in {entry.folder}, which is no directory"
        if (entry.kind == "link") != bool(entry.target):
            yield f"{path} is a {entry.kind} that points to {entry.target!r}"
        if entry.kind == "file" and not entry.binary and entry.size != len(entry.data.encode()):
            yield f"{path} has {len(entry.data.encode())} bytes, not {entry.size}"
        if entry.members and entry.size != tar_size(entry.members):
            yield f"{path} is an archive of {tar_size(entry.members)} bytes, not {entry.size}"
    login = next(iter(fs.logins))
    owned = [e for e in fs.entries if e.owner == login.user]
    if sum(e.size for e in owned) > login.quota or len(owned) > login.entry_quota:
        yield f"{login.user} is over the quota"
    standing = fs.entries.find(login.directory)
    if standing is None or standing.kind != "directory":
        yield f"the working directory {login.directory} is not there"
