"""The rules of the issue tracker: workflows, hierarchy, blockers, sprints and work logs."""

from datetime import timedelta

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


def at(session, tool, **arguments):
    return session.call(tool, arguments)


def issue(session, key):
    return at(session, "get_issue", issue_key=key).value["issue"]


def closed_and_open(session):
    """A support issue that is closed for good, and one that is not."""
    found = {i.status: i.issue_key for i in session.servers["issue_tracker"].issues.where(project_key="SUP")}
    return found["closed"], found["open"]


def test_a_closed_issue_is_followed_up_by_a_new_one_that_is_linked_to_it(session):
    closed, _ = closed_and_open(session)
    refused = at(session, "add_comment", issue_key=closed, text="Again!")
    assert "create a new issue and link it" in refused.text
    new = create(session, "SUP", "incident")
    assert at(session, "link_issues", issue_key=new, kind="relates_to", other_key=closed).ok
    assert at(session, "link_issues", issue_key=closed, kind="causes", other_key=new).ok
    other_closed = at(session, "search_issues", project_key="SUP", status="closed").value["items"]
    pair = [i["issue_key"] for i in other_closed[:2]]
    assert at(session, "link_issues", issue_key=pair[0], kind="relates_to", other_key=pair[1]).code == "failed_precondition"


def test_nothing_can_block_what_is_resolved_already(session, project):
    done, blocker = create(session, project), create(session, project)
    step(session, done, "Finish")
    refused = at(session, "link_issues", issue_key=blocker, kind="blocks", other_key=done)
    assert (refused.code, "relates_to" in refused.text) == ("failed_precondition", True)
    assert at(session, "link_issues", issue_key=blocker, kind="relates_to", other_key=done).ok


def test_a_parent_does_not_wait_for_its_own_part(session, project):
    story = create(session, project, "story")
    part = create(session, project, "subtask", parent=story)
    assert at(session, "link_issues", issue_key=story, kind="blocks", other_key=part).code == "conflict"
    assert at(session, "link_issues", issue_key=part, kind="blocks", other_key=story).ok


def test_a_part_is_reopened_after_what_it_is_a_part_of(session, project):
    story = create(session, project, "story")
    part = create(session, project, "subtask", parent=story)
    step(session, part, "Finish")
    step(session, story, "Finish")
    refused = step(session, part, "Put back")
    assert (refused.code, f"{story}, of which" in refused.text) == ("failed_precondition", True)
    assert step(session, story, "Put back").ok
    assert step(session, part, "Put back").ok


def test_what_is_reopened_after_its_sprint_goes_to_the_backlog(session, project):
    sprint = at(session, "create_sprint", project_key=project, name="One").value["sprint_id"]
    key, tomorrow = create(session, project), session.servers["issue_tracker"].today.replace(year=2027).isoformat()
    at(session, "add_issue_to_sprint", issue_key=key, sprint_id=sprint)
    at(session, "start_sprint", sprint_id=sprint, last_day=tomorrow)
    step(session, key, "Finish")
    at(session, "complete_sprint", sprint_id=sprint)
    assert issue(session, key)["sprint_id"] == sprint
    step(session, key, "Put back")
    assert issue(session, key)["sprint_id"] is None


def test_the_work_log_can_be_read_with_its_days_and_notes_newest_first(session, project):
    key = create(session, project)
    session.advance(days=2)
    today, created = session.servers["issue_tracker"].today.isoformat(), issue(session, key)["created"][:10]
    for note, minutes, day in (("tests", 30, {"day": today}), ("analysis", 45, {"day": created}), ("call", 15, {})):
        at(session, "log_work", issue_key=key, minutes=minutes, note=note, **day)
    seen = at(session, "get_issue", issue_key=key).value
    assert [(w["note"], w["minutes"], w["day"]) for w in seen["work"]] == [
        ("call", 15, today),
        ("tests", 30, today),
        ("analysis", 45, created),
    ]
    assert seen["issue"]["minutes_logged"] == 90


@pytest.mark.parametrize("day", ["1950-01-01", "2199-12-31"])
def test_work_is_logged_between_the_creation_of_the_issue_and_today(session, project, day):
    key = create(session, project)
    assert not at(session, "log_work", issue_key=key, minutes=30, day=day).ok
    today = session.servers["issue_tracker"].today.isoformat()
    assert at(session, "log_work", issue_key=key, minutes=30, day=today).ok  # the day of its creation


def test_issues_are_found_by_kind_and_newest_first_also_within_one_moment(session, project):
    made = [create(session, project, "bug") for _ in range(3)]
    found = at(session, "search_issues", project_key=project, kind="bug").value["items"]
    assert [i["issue_key"] for i in found[:3]] == made[::-1]
    assert {i["kind"] for i in found} == {"bug"}
    texts = [at(session, "add_comment", issue_key=made[0], text=t).value["text"] for t in ("first", "second")]
    assert [c["text"] for c in at(session, "list_comments", issue_key=made[0]).value["items"]] == texts[::-1]


def test_all_issues_and_sprints_that_are_counted_can_be_reached(session, project):
    seen, total = [], 1
    while len(seen) < total:
        found = at(session, "search_issues", offset=len(seen)).value
        total = found["total"]
        seen += [i["issue_key"] for i in found["items"]]
    assert sorted(seen) == sorted(session.servers["issue_tracker"].issues.keys())
    first = at(session, "list_sprints", limit=1).value
    assert at(session, "list_sprints", limit=1, offset=1).value["items"] != first["items"]


def test_a_sprint_shows_the_issues_planned_into_it(session, project):
    sprint = at(session, "create_sprint", project_key=project, name="One").value["sprint_id"]
    key = create(session, project)
    at(session, "add_issue_to_sprint", issue_key=key, sprint_id=sprint)
    newest = at(session, "list_sprints", project_key=project).value["items"][0]
    assert (newest["sprint_id"], newest["issues"]) == (sprint, [key])


def test_labels_are_a_set(session, project):
    key = create(session, project)
    assert at(session, "update_issue", issue_key=key, labels=["security", "a", "security"]).value["labels"] == ["a", "security"]
    other = session.fork()
    at(other, "update_issue", issue_key=key, labels=["a", "security"])
    assert other.digest() == session.digest()


def test_only_stories_tasks_and_bugs_are_estimated(session, project):
    epic, bug = create(session, project, "epic"), create(session, project, "bug")
    assert at(session, "update_issue", issue_key=epic, points=8).code == "invalid_argument"
    assert at(session, "update_issue", issue_key=bug, points=8).value["points"] == 8


@pytest.mark.parametrize("text", ["", "  ", "\t\n"])
def test_blank_text_is_no_comment_and_no_summary(session, project, text):
    key = create(session, project)
    assert at(session, "add_comment", issue_key=key, text=text).code == "invalid_argument"
    assert at(session, "create_issue", project_key=project, kind="task", summary=text).code == "invalid_argument"
    assert at(session, "create_sprint", project_key=project, name=text).code == "invalid_argument"


def test_the_names_of_a_projects_sprints_differ_by_more_than_case_and_space(session, project):
    at(session, "create_sprint", project_key=project, name="Bug Bash")
    assert at(session, "create_sprint", project_key=project, name=" bug BASH ").code == "conflict"


def test_a_resolved_support_issue_is_taken_back_within_five_days_and_then_waits_five_more(session):
    key = create(session, "SUP", "request")
    at(session, "assign_issue", issue_key=key, assignee=me(session))
    step(session, key, "Pick up")
    step(session, key, "Resolve")
    session.advance(days=4)
    step(session, key, "Pick up")
    step(session, key, "Resolve")
    session.advance(days=4)
    assert issue(session, key)["status"] == "resolved"
    session.advance(days=40)
    assert issue(session, key)["status"] == "closed"


def test_filters_by_what_is_not_there_are_refused(session):
    for filters in ({"project_key": "NO"}, {"assignee": "USR-1"}):
        assert at(session, "search_issues", **filters).code == "not_found"
    assert at(session, "list_sprints", project_key="NO").code == "not_found"


def test_advice_followed_to_the_letter_works(session, project):
    """Each refusal says what to do first; done, the call succeeds."""
    key, blocker = create(session, project), create(session, project)
    assert "assign it first" in step(session, key, "Start progress").text
    at(session, "assign_issue", issue_key=key, assignee=me(session))
    assert step(session, key, "Start progress").ok
    step(session, key, "Send to review")
    at(session, "link_issues", issue_key=blocker, kind="blocks", other_key=key)
    assert f"waits for {blocker}: resolve that first" in step(session, key, "Finish").text
    step(session, blocker, "Finish")
    assert step(session, key, "Finish").ok
    first, second = (at(session, "create_sprint", project_key=project, name=n).value["sprint_id"] for n in ("One", "Two"))
    assert "reopen it first" in at(session, "add_issue_to_sprint", issue_key=key, sprint_id=first).text
    step(session, key, "Put back")
    assert at(session, "add_issue_to_sprint", issue_key=key, sprint_id=first).ok
    last_day = session.servers["issue_tracker"].today.replace(year=2027).isoformat()
    assert "add issues to it first" in at(session, "start_sprint", sprint_id=second, last_day=last_day).text
    at(session, "add_issue_to_sprint", issue_key=blocker, sprint_id=second)
    step(session, blocker, "Put back")
    at(session, "add_issue_to_sprint", issue_key=blocker, sprint_id=second)
    at(session, "start_sprint", sprint_id=first, last_day=last_day)
    assert (
        f"{first} of {project} is still active: complete it first" in at(session, "start_sprint", sprint_id=second, last_day=last_day).text
    )
    at(session, "complete_sprint", sprint_id=first)
    assert at(session, "start_sprint", sprint_id=second, last_day=last_day).ok


# --- the world


@pytest.fixture(params=[11, 12, 13, 14])
def tracker(request):
    return Session.open("issue_tracker", request.param).servers["issue_tracker"]


def test_whoever_has_left_has_written_nothing_for_a_month(tracker):
    left = {u.user_id for u in tracker.users if not u.active}
    lately = tracker.now - timedelta(days=30)
    assert not [i.issue_key for i in tracker.issues if i.reporter in left and i.created > lately]
    assert not [c.comment_id for c in tracker.comments if c.author in left and c.created > lately]
    assert any(c.author in left for c in tracker.comments)


def test_a_software_team_works_by_day_and_not_on_weekends(tracker):
    software = {p.project_key for p in tracker.projects.where(workflow="software")}
    issues = {i.issue_key for i in tracker.issues if i.project_key in software}
    moments = [tracker.issues.get(key).created for key in issues] + [c.created for c in tracker.comments if c.issue_key in issues]
    assert {m.weekday() for m in moments} == {0, 1, 2, 3, 4}
    assert all(8 <= m.hour < 18 for m in moments)
    assert {w.day.weekday() for w in tracker.worklogs if w.issue_key in issues} <= {0, 1, 2, 3, 4}
    assert {s.starts.weekday() for s in tracker.sprints if s.starts} <= {0, 1, 2, 3, 4}


def test_a_duplicate_says_of_what(tracker):
    for issue in tracker.issues.where(resolution="duplicate"):
        (link,) = [x for x in tracker.links.where(issue_key=issue.issue_key, kind="duplicates") if x.other_key]
        assert tracker.issues.get(link.other_key).created < issue.created
