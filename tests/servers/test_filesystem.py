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
