"""The rules of the issue tracker: workflows, hierarchy, blockers, sprints and work logs."""

import pytest

from prove.servers.session import Session


@pytest.fixture
def session():
    return Session.open("issue_tracker", seed=0)


@pytest.fixture
def project(session):
    """The key of a software project that runs no sprint."""
    running = {s["project_key"] for s in session.call("list_sprints", {"status": "active"}).value["items"]}
    projects = session.call("list_projects", {}).value["items"]
    return next(p["project_key"] for p in projects if p["workflow"] == "software" and not p["archived"] and p["project_key"] not in running)


def create(session, project, kind="task", **more):
    return session.call("create_issue", {"project_key": project, "kind": kind, "summary": f"A {kind}", **more}).value["issue_key"]


def step(session, key, name, **more):
    """Take an issue through the step of that name, which must be one it can take."""
    steps = session.call("list_transitions", {"issue_key": key}).value["items"]
    found = next(s["transition_id"] for s in steps if s["name"] == name)
    return session.call("transition_issue", {"issue_key": key, "transition_id": found, **more})


def me(session):
    return next(u["user_id"] for u in session.call("search_users", {"limit": 50}).value["items"] if u["me"])


def test_numbers_of_a_project_are_given_out_once(session, project):
    first = create(session, project)
    assert session.call("delete_issue", {"issue_key": first}).ok
    second = create(session, project)
    assert int(second.split("-")[1]) == int(first.split("-")[1]) + 1


def test_work_is_assigned_before_it_starts_and_reviewed_before_it_finishes(session, project):
    key = create(session, project)
    assert step(session, key, "Start progress").code == "failed_precondition"  # nobody is assigned
    assert session.call("assign_issue", {"issue_key": key, "assignee": me(session)}).ok
    assert step(session, key, "Start progress").value["status"] == "in_progress"
    names = [s["name"] for s in session.call("list_transitions", {"issue_key": key}).value["items"]]
    assert names == ["Send to review", "Put back"]
    step(session, key, "Send to review")
    done = step(session, key, "Finish").value
    assert (done["status"], done["resolution"]) == ("done", "done")
    assert step(session, key, "Put back").value["resolution"] is None


def test_a_resolution_belongs_to_a_step_that_resolves(session, project):
    key = create(session, project)
    session.call("assign_issue", {"issue_key": key, "assignee": me(session)})
    assert step(session, key, "Start progress", resolution="duplicate").code == "invalid_argument"


def test_a_blocked_issue_can_be_rejected_but_not_done_before_its_blocker(session, project):
    blocker, blocked = create(session, project), create(session, project)
    assert session.call("link_issues", {"issue_key": blocker, "kind": "blocks", "other_key": blocked}).ok
    assert step(session, blocked, "Finish").code == "failed_precondition"
    other = session.fork()
    assert step(other, blocked, "Finish", resolution="wont_do").ok
    assert step(session, blocker, "Finish").ok
    assert step(session, blocked, "Finish").ok


def test_issues_cannot_wait_for_each_other_in_a_circle(session, project):
    a, b, c = (create(session, project) for _ in range(3))
    session.call("link_issues", {"issue_key": a, "kind": "blocks", "other_key": b})
    session.call("link_issues", {"issue_key": b, "kind": "blocks", "other_key": c})
    assert session.call("link_issues", {"issue_key": c, "kind": "blocks", "other_key": a}).code == "conflict"
    assert session.call("link_issues", {"issue_key": c, "kind": "relates_to", "other_key": a}).ok


def test_a_subtask_has_a_parent_that_is_no_epic_and_holds_it_open(session, project):
    epic = create(session, project, "epic")
    assert session.call("create_issue", {"project_key": project, "kind": "subtask", "summary": "Part"}).code == "invalid_argument"
    subtask = {"project_key": project, "kind": "subtask", "summary": "Part"}
    assert session.call("create_issue", subtask | {"parent": epic}).code == "invalid_argument"
    story = create(session, project, "story", parent=epic)
    assert session.call("create_issue", subtask | {"parent": story}).ok
    assert step(session, story, "Finish").code == "failed_precondition"
    assert session.call("delete_issue", {"issue_key": story}).code == "failed_precondition"


def test_a_sprint_starts_with_issues_in_it_and_hands_over_what_is_left(session, project):
    first, second = (session.call("create_sprint", {"project_key": project, "name": n}).value["sprint_id"] for n in ("One", "Two"))
    last_day = session.servers["issue_tracker"].today.replace(year=2027).isoformat()
    start = {"sprint_id": first, "last_day": last_day}
    assert session.call("start_sprint", start).code == "failed_precondition"  # it is empty
    open_issue, finished = create(session, project), create(session, project)
    for key in (open_issue, finished):
        assert session.call("add_issue_to_sprint", {"issue_key": key, "sprint_id": first}).ok
    assert session.call("start_sprint", start).ok
    step(session, finished, "Finish")
    report = session.call("complete_sprint", {"sprint_id": first, "move_open_to": second}).value
    assert (report["done"], report["carried_over"]) == (1, [open_issue])
    assert session.call("get_issue", {"issue_key": open_issue}).value["issue"]["sprint_id"] == second


def test_a_day_has_no_more_than_24_hours_to_log(session, project):
    key = create(session, project)
    today = session.servers["issue_tracker"].today.isoformat()
    logged = sum(w.minutes for w in session.servers["issue_tracker"].worklogs if w.author == me(session) and w.day.isoformat() == today)
    assert session.call("log_work", {"issue_key": key, "minutes": 1440 - logged}).ok
    assert session.call("log_work", {"issue_key": key, "minutes": 1}).code == "resource_exhausted"
    assert session.call("get_issue", {"issue_key": key}).value["issue"]["minutes_logged"] == 1440 - logged


def test_a_resolved_support_issue_is_closed_for_good_after_five_days(session):
    key = create(session, "SUP", "incident")
    session.call("assign_issue", {"issue_key": key, "assignee": me(session)})
    step(session, key, "Pick up")
    step(session, key, "Resolve")
    session.advance(days=4, hours=23)
    assert session.call("get_issue", {"issue_key": key}).value["issue"]["status"] == "resolved"
    session.advance(hours=1)
    assert session.call("get_issue", {"issue_key": key}).value["issue"]["status"] == "closed"
    assert session.call("add_comment", {"issue_key": key, "text": "Again!"}).code == "failed_precondition"
