import hashlib

import pytest

from prove.servers.session import Session


@pytest.fixture
def disk():
    """A session with a directory `~/bench` that holds `list.txt`, standing in it."""
    session = Session.open("filesystem", seed=2)
    for tool, arguments in (
        ("mkdir", {"path": "~/bench"}),
        ("cd", {"path": "~/bench"}),
        ("write_file", {"path": "list.txt", "content": "pear\napple\npear"}),
    ):
        assert session.call(tool, arguments).ok
    return session


def text(session, path):
    return session.call("read_file", {"path": path}).value["text"]


def test_paths_are_relative_to_where_one_stands(disk):
    home = disk.call("pwd", {}).value["home"]
    assert disk.call("stat", {"path": "../bench/./list.txt"}).value["path"] == f"{home}/bench/list.txt"
    assert disk.call("cd", {"path": "/.."}).value["directory"] == "/"
    assert disk.call("stat", {"path": "list.txt"}).code == "not_found"


def test_a_directory_moves_with_all_that_is_in_it_and_with_who_stands_there(disk):
    assert disk.call("mv", {"source": "~/bench", "destination": "~/scratch"}).ok
    assert disk.call("pwd", {}).value["directory"].endswith("/scratch/bench")
    assert text(disk, "list.txt") == "pear\napple\npear\n"
    assert disk.call("mv", {"source": "~/scratch", "destination": "~/scratch/bench"}).code == "invalid_argument"


def test_a_sibling_whose_name_only_begins_the_same_is_not_inside(disk):
    assert disk.call("mkdir", {"path": "~/bench2"}).ok
    assert disk.call("mv", {"source": "~/bench2", "destination": "~/bench"}).ok
    assert disk.call("rm", {"path": "~/bench", "recursive": True}).code == "failed_precondition"  # one stands in it
    assert disk.call("cd", {"path": "~"}).ok
    assert disk.call("rm", {"path": "~/bench", "recursive": True}).value["entries"] == 3


def test_links_are_followed_except_where_they_run_in_a_circle(disk):
    assert disk.call("create_symlink", {"link": "short", "target": "list.txt"}).ok
    assert disk.call("append_file", {"path": "short", "content": "plum"}).ok
    assert text(disk, "list.txt") == "pear\napple\npear\nplum\n"
    assert disk.call("rm", {"path": "short"}).ok  # the link goes, the file stays
    assert disk.call("stat", {"path": "list.txt"}).ok
    assert "circle" in disk.call("read_file", {"path": "~/scratch/left"}).text
    assert disk.call("read_link", {"path": "~/scratch/old_data"}).value["exists"] is False


def test_the_owner_may_unlock_and_others_may_not(disk):
    assert disk.call("chmod", {"path": "list.txt", "mode": "444"}).ok
    assert disk.call("append_file", {"path": "list.txt", "content": "plum"}).code == "failed_precondition"
    assert disk.call("chmod", {"path": "list.txt", "mode": "644"}).ok
    assert disk.call("append_file", {"path": "list.txt", "content": "plum"}).ok
    assert disk.call("read_file", {"path": "/etc/shadow"}).code == "permission_denied"
    assert disk.call("chmod", {"path": "/etc/hosts", "mode": "666"}).code == "permission_denied"
    assert disk.call("write_file", {"path": "~/scratch/frozen/a.txt", "content": "a"}).code == "failed_precondition"
    assert disk.call("write_file", {"path": "~/team/minutes/a.md", "content": "a"}).ok  # through the group


def test_repeated_lines_go_once_they_are_next_to_each_other(disk):
    assert disk.call("uniq_lines", {"path": "list.txt"}).code == "failed_precondition"
    assert disk.call("sort_file", {"path": "list.txt"}).ok
    assert disk.call("uniq_lines", {"path": "list.txt"}).ok
    assert text(disk, "list.txt") == "apple\npear\n"
    counts = disk.call("wc", {"path": "list.txt"}).value
    assert (counts["lines"], counts["words"], counts["size"]) == (2, 2, 11)


def test_checksums_are_those_of_the_bytes(disk):
    digest = disk.call("checksum", {"path": "list.txt", "algorithm": "md5"}).value["digest"]
    assert digest == hashlib.md5(b"pear\napple\npear\n").hexdigest()


def test_an_archive_gives_back_what_was_packed(disk):
    assert disk.call("create_archive", {"archive": "all.tar", "paths": ["list.txt", "~/Documents/letters"]}).value["size"] == 10240
    assert disk.call("extract_archive", {"archive": "all.tar"}).code == "conflict"  # list.txt is there
    assert disk.call("extract_archive", {"archive": "all.tar", "destination": "/tmp"}).value["total"] == 5
    assert disk.call("diff_files", {"old": "list.txt", "new": "/tmp/list.txt"}).value["identical"]
    assert disk.call("list_archive", {"archive": "list.txt"}).code == "invalid_argument"


def test_the_quota_holds_and_removing_frees_it(disk):
    before = disk.call("quota", {}).value
    size = disk.call("stat", {"path": "~/Downloads/editor-installer.bin"}).value["size"]
    copies = [disk.call("cp", {"source": "~/Downloads/editor-installer.bin", "destination": f"copy{n}"}) for n in range(25)]
    assert sum(c.ok for c in copies) == before["left"] // size
    assert {c.code for c in copies if not c.ok} == {"resource_exhausted"}
    for number in range(25):
        disk.call("rm", {"path": f"copy{number}"})
    assert disk.call("quota", {}).value == before


def test_an_edit_must_say_which_place_it_means(disk):
    edit = {"path": "list.txt", "old_text": "pear", "new_text": "fig"}
    assert disk.call("edit_file", edit).code == "conflict"
    assert disk.call("edit_file", edit | {"old_text": "apple\npear"}).ok
    assert text(disk, "list.txt") == "pear\nfig\n"


def at(disk, tool, **arguments):
    return disk.call(tool, arguments)


# --- texts


def test_a_last_line_without_an_end_is_shown_as_it_is_so_that_what_is_shown_can_be_edited(disk):
    at(disk, "write_file", path="e", content="one\ntwo\n")
    at(disk, "edit_file", path="e", old_text="two\n", new_text="2")
    assert text(disk, "e") == "one\n2"
    assert at(disk, "tail", path="e", lines=1).value["text"] == "2"
    assert at(disk, "wc", path="e").value["lines"] == 1  # POSIX counts line ends
    assert at(disk, "edit_file", path="e", old_text=text(disk, "e"), new_text="one\n").ok
    assert text(disk, "e") == "one\n"


def test_a_line_end_that_is_missing_is_a_difference(disk):
    at(disk, "write_file", path="with", content="one\ntwo\n")
    at(disk, "write_file", path="without", content="one\ntwo\n")
    at(disk, "edit_file", path="without", old_text="two\n", new_text="two")
    found = at(disk, "diff_files", old="with", new="without").value
    assert (found["identical"], found["added"], found["removed"]) == (False, 1, 1)
    assert found["diff"].endswith("-two\n+two\n\\ No newline at end of file")


def test_lines_are_added_behind_a_last_line_without_an_end(disk):
    at(disk, "edit_file", path="list.txt", old_text="apple\npear\n", new_text="apple")
    other = disk.fork()
    at(disk, "append_file", path="list.txt", content="plum")
    assert text(disk, "list.txt") == "pear\napple\nplum\n"
    at(other, "insert_lines", path="list.txt", before=1, content="fig")
    assert text(other, "list.txt") == "fig\npear\napple"
    at(other, "insert_lines", path="list.txt", before=4, content="plum")
    assert text(other, "list.txt") == "fig\npear\napple\nplum\n"


def test_white_space_in_a_file_counts(disk):
    at(disk, "write_file", path="code.py", content="\tif x:\n    pass  \n")
    assert text(disk, "code.py") == "\tif x:\n    pass  \n"
    assert at(disk, "grep", text="    pass", path="code.py").value["total"] == 1
    assert at(disk, "grep", text="     pass", path="code.py").value["total"] == 0
    assert at(disk, "edit_file", path="code.py", old_text="\t", new_text="    ").ok


# --- permissions, as POSIX has them


def test_unlinking_needs_both_write_and_search_permission_on_the_directory(disk):
    at(disk, "mkdir", path="box")
    at(disk, "write_file", path="box/a", content="a")
    at(disk, "chmod", path="box", mode="600")
    refused = at(disk, "rm", path="box", recursive=True)
    assert (refused.code, "chmod it first" in refused.text) == ("failed_precondition", True)
    at(disk, "chmod", path="box", mode="700")
    assert at(disk, "rm", path="box", recursive=True).value["entries"] == 2


def test_a_directory_that_cannot_be_written_keeps_its_parent(disk):
    """rename(2): EACCES where `..` would have to change."""
    for path in ("box", "other"):
        at(disk, "mkdir", path=path)
    at(disk, "chmod", path="box", mode="555")
    assert at(disk, "mv", source="box", destination="other").code == "failed_precondition"
    assert at(disk, "rename", path="box", new_name="crate").ok  # its `..` stays the same
    at(disk, "chmod", path="crate", mode="755")
    assert at(disk, "mv", source="crate", destination="other").ok


def test_an_owner_may_touch_what_they_may_not_write(disk):
    at(disk, "chmod", path="list.txt", mode="444")
    disk.advance(hours=1)
    assert at(disk, "touch", path="list.txt").value["modified"] == disk.clock.now.isoformat().replace("+00:00", "Z")
    assert at(disk, "touch", path="/etc/hosts").code == "permission_denied"


def test_from_a_sticky_directory_only_owners_take_things(disk):
    assert at(disk, "stat", path="/tmp").value["mode"] == "1777"
    left = "/tmp/print_queue.txt"  # a colleague's, which everybody may write
    assert at(disk, "append_file", path=left, content="one more").ok
    assert at(disk, "rm", path=left).code == "permission_denied"
    assert at(disk, "mv", source=left, destination="~").code == "permission_denied"
    assert at(disk, "rename", path=left, new_name="mine.txt").code == "permission_denied"
    assert at(disk, "cp", source=left, destination="/tmp/copy.txt").ok
    assert at(disk, "rm", path="/tmp/copy.txt").ok


@pytest.mark.parametrize(("said", "kept"), [("0644", "644"), ("644", "644"), ("1755", "1755"), ("01755", "1755"), ("0007", "007")])
def test_a_mode_may_be_said_with_a_leading_zero(disk, said, kept):
    assert at(disk, "chmod", path="list.txt", mode=said).value["mode"] == kept


@pytest.mark.parametrize("mode", ["888", "64", "2755", "rwxr-xr-x", "644\n"])
def test_what_is_no_mode_is_refused(disk, mode):
    assert at(disk, "chmod", path="list.txt", mode=mode).code == "invalid_argument"


def test_a_copy_is_no_more_open_than_the_umask_allows_and_an_unpacked_file_neither(disk):
    at(disk, "chmod", path="list.txt", mode="666")
    assert at(disk, "cp", source="list.txt", destination="copy.txt").value["mode"] == "644"
    at(disk, "create_archive", archive="all.tar", paths=["list.txt"])
    at(disk, "rm", path="list.txt")
    at(disk, "extract_archive", archive="all.tar")
    assert at(disk, "stat", path="list.txt").value["mode"] == "644"


def test_chmod_goes_down_no_further_than_the_new_mode_lets_it(disk):
    at(disk, "mkdir", path="box/inner", parents=True)
    at(disk, "create_symlink", link="box/link", target="/etc/hosts")  # not followed: it belongs to root
    assert at(disk, "chmod", path="box", mode="644", recursive=True).code == "invalid_argument"
    assert at(disk, "chmod", path="box", mode="755", recursive=True).ok
    assert at(disk, "stat", path="box/link").value["mode"] == "777"


# --- paths


def test_a_slash_at_the_end_means_a_directory(disk):
    assert at(disk, "cp", source="list.txt", destination="archive/").code == "not_found"
    assert at(disk, "mv", source="list.txt", destination="archive/").code == "not_found"
    assert at(disk, "write_file", path="archive/", content="a").code == "invalid_argument"
    assert at(disk, "touch", path="archive/").code == "invalid_argument"
    assert at(disk, "read_file", path="list.txt/").code == "invalid_argument"
    assert at(disk, "mkdir", path="archive/").ok
    assert at(disk, "cp", source="list.txt", destination="archive/").value["path"].endswith("/bench/archive/list.txt")
    assert at(disk, "cp", source="archive", destination="second/", recursive=True).ok  # a directory may be said so


def test_making_directories_with_their_parents_is_content_with_those_that_are_there(disk):
    assert at(disk, "mkdir", path="a/b/c", parents=True).value["path"].endswith("/bench/a/b/c")
    before = disk.digest()
    assert at(disk, "mkdir", path="a/b/c", parents=True).value["path"].endswith("/bench/a/b/c")
    assert disk.digest() == before
    assert at(disk, "mkdir", path="a/b").code == "conflict"
    assert at(disk, "mkdir", path="list.txt", parents=True).code == "invalid_argument"
    assert at(disk, "mkdir", path="no/such").code == "not_found"


def test_a_path_may_have_255_characters_in_all(disk):
    here = at(disk, "pwd").value["directory"]
    name = "n" * (255 - len(here) - 1)
    assert at(disk, "touch", path=name).ok
    assert at(disk, "stat", path=f"{here}/{name}").ok
    refused = at(disk, "rename", path=name, new_name=f"{name}n")
    assert (refused.code, "256 characters" in refused.text) == ("invalid_argument", True)
    at(disk, "mkdir", path="box")
    assert at(disk, "mv", source=name, destination="box").code == "invalid_argument"


def test_a_directory_does_not_move_where_what_is_in_it_would_have_too_long_a_path(disk):
    at(disk, "mkdir", path="box")
    at(disk, "touch", path="box/" + "n" * 150)
    at(disk, "mkdir", path="m" * 90)
    assert at(disk, "mv", source="box", destination="m" * 90).code == "invalid_argument"
    assert at(disk, "stat", path="box/" + "n" * 150).ok


def test_dot_dot_dot_and_the_root_are_nothing_to_move_or_remove(disk):
    here = at(disk, "pwd").value["directory"]
    at(disk, "mkdir", path="box")
    at(disk, "cd", path="box")
    refused = at(disk, "rmdir", path=".")
    assert (refused.code, f"{here}/box" in refused.text) == ("invalid_argument", True)
    assert at(disk, "rm", path="..", recursive=True).code == "invalid_argument"
    assert at(disk, "mv", source=".", destination="~").code == "invalid_argument"
    assert at(disk, "rm", path="/", recursive=True).code == "permission_denied"


def test_names_are_kept_as_they_can_be_asked_for(disk):
    assert at(disk, "rename", path="list.txt", new_name="  po\u0069re\u0301s.txt ").value["name"] == "poir\u00e9s.txt"
    assert at(disk, "stat", path="poire\u0301s.txt ").ok
    assert at(disk, "rename", path="poir\u00e9s.txt", new_name="c/d").code == "invalid_argument"
    assert at(disk, "mkdir", path=" \t").code == "invalid_argument"


def test_writing_to_a_link_that_leads_nowhere_makes_the_file_it_points_to(disk):
    at(disk, "touch", path="there")
    at(disk, "create_symlink", link="pointer", target="there")
    at(disk, "rm", path="there")
    assert at(disk, "write_file", path="pointer", content="hello").value["path"].endswith("/bench/there")
    assert text(disk, "there") == "hello\n"
    at(disk, "rm", path="there")
    assert at(disk, "touch", path="pointer").value["path"].endswith("/bench/there")


@pytest.mark.parametrize(
    ("tool", "more"), [("rm", {"recursive": True}), ("rmdir", {}), ("mv", {"destination": "/tmp"}), ("rename", {"new_name": "other"})]
)
def test_a_slash_behind_a_link_does_not_take_away_what_it_points_to(disk, tool, more):
    at(disk, "mkdir", path="room")
    at(disk, "create_symlink", link="door", target="room")
    path = "source" if tool == "mv" else "path"
    refused = disk.call(tool, {path: "door/", **more})
    assert refused.code == "invalid_argument"
    assert disk.call("stat", {"path": "room"}).ok
    if tool != "rmdir":  # which takes no links
        assert disk.call(tool, {path: "door", **more}).ok
    assert disk.call("stat", {"path": "room/"}).ok


def test_a_copy_of_a_link_is_called_as_the_link(disk):
    """POSIX cp: the last component of source_file."""
    at(disk, "mkdir", path="box")
    at(disk, "create_symlink", link="short", target="list.txt")
    copied = at(disk, "cp", source="short", destination="box").value
    assert (copied["name"], copied["kind"]) == ("short", "file")


# --- archives and lists


def test_an_archive_holds_a_link_as_a_link_and_its_size_counts_no_blocks_for_it(disk):
    at(disk, "create_symlink", link="short", target="list.txt")
    assert at(disk, "create_archive", archive="one.tar", paths=["short"]).value["size"] == 10240
    assert at(disk, "list_archive", archive="one.tar").value["items"] == [
        {"member": "short", "kind": "link", "size": len(at(disk, "pwd").value["directory"]) + len("/list.txt")}
    ]
    assert at(disk, "create_archive", archive="two", paths=["short"]).code == "invalid_argument"


def test_the_order_in_which_things_are_packed_says_nothing(disk):
    at(disk, "touch", path="b.txt")
    other = disk.fork()
    at(disk, "create_archive", archive="all.tar", paths=["b.txt", "list.txt", "b.txt"])
    at(other, "create_archive", archive="all.tar", paths=["list.txt", "b.txt"])
    assert disk.outcome() == other.outcome()


def test_all_that_is_counted_can_be_reached(disk):
    for tool, arguments in (
        ("ls", {"path": "/var/log", "limit": 2}),
        ("find", {"path": "/"}),
        ("grep", {"text": "e", "path": "/var/log/web.log", "limit": 7}),
        ("search_files", {"query": "the", "path": "~"}),
        ("cut_column", {"path": "/var/log/web.log", "column": 1, "separator": "space", "limit": 9}),
        ("list_archive", {"archive": "~/backups/letters.tar", "limit": 2}),
    ):
        first = at(disk, tool, **arguments).value
        seen = list(first["items"])
        while len(seen) < first["total"]:
            more = at(disk, tool, **arguments, offset=len(seen)).value["items"]
            assert more, tool
            seen += more
        assert len({str(item) for item in seen}) == first["total"], tool


def test_of_files_of_one_moment_the_one_made_last_is_the_newest(disk):
    for name in ("one", "two", "three"):
        at(disk, "touch", path=name)
    names = [e["name"] for e in at(disk, "ls", order="newest").value["items"]]
    assert names == ["three", "two", "one", "list.txt"]


def test_what_cannot_be_looked_into_is_said(disk):
    assert at(disk, "disk_usage", path="/home").value["closed"] == 1  # the home of somebody who keeps it shut
    drawing = at(disk, "tree", path="/", depth=6).value["drawing"].splitlines()
    assert len(drawing) == 101
    assert drawing[-1].startswith("... and ")


@pytest.mark.parametrize(
    ("call", "follow"),
    [
        (("append_file", {"path": "locked", "content": "a"}), [("chmod", {"path": "locked", "mode": "644"})]),
        (("rm", {"path": "~/bench", "recursive": True}), [("cd", {"path": "~"})]),
        (("uniq_lines", {"path": "list.txt"}), [("sort_file", {"path": "list.txt"})]),
        (("touch", {"path": "no/file"}), [("mkdir", {"path": "no"})]),
        (("cp", {"source": "list.txt", "destination": "dir/"}), [("mkdir", {"path": "dir"})]),
        (("create_symlink", {"link": "list.txt", "target": "locked"}), [("rm", {"path": "list.txt"})]),
    ],
)
def test_advice_followed_to_the_letter_works(disk, call, follow):
    at(disk, "write_file", path="locked", content="a")
    at(disk, "chmod", path="locked", mode="444")
    assert not disk.call(*call).ok
    for step in follow:
        assert disk.call(*step).ok
    assert disk.call(*call).ok
