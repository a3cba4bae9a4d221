"""What must hold in an issue tracker after every call, and what its past looks like."""

from collections import Counter
from collections.abc import Iterator
from datetime import date
from itertools import pairwise

from .records import CLOSES_AFTER, ESTIMATED, FULL_DAY, KINDS, PARENTS, RESOLVED, WORKED_ON, Issue, Project
from .tools import IssueTracker


def invariants(tracker: IssueTracker) -> Iterator[str]:
    for issue in tracker.issues:
        yield from _wrong_with(tracker, issue)
    for project in tracker.projects:
        if len(tracker.sprints.where(project_key=project.project_key, status="active")) > 1:
            yield f"{project.project_key} runs more than one sprint"
    for record in (*tracker.comments, *tracker.worklogs, *tracker.links):
        if record.issue_key not in tracker.issues:
            yield f"{record} is about an issue that is gone"
    for link in tracker.links:
        if link.other_key not in tracker.issues:
            yield f"{link.link_id} leads to an issue that is gone"
        elif link.kind == "blocks" and tracker._waits(link.issue_key, link.other_key):
            yield f"{link.issue_key} and {link.other_key} wait for each other"


def _wrong_with(tracker: IssueTracker, issue: Issue) -> Iterator[str]:
    key, project = issue.issue_key, tracker.projects.get(issue.project_key)
    statuses = {s for t in tracker.transitions.where(workflow=project.workflow) for s in (*t.from_statuses, t.to_status)}
    if issue.kind not in KINDS[project.workflow] or issue.status not in statuses:
        yield f"{key} is a {issue.kind} that is {issue.status} in a {project.workflow} project"
    if (issue.status in RESOLVED) != bool(issue.resolution) or bool(issue.resolution) != bool(issue.resolved):
        yield f"{key} is {issue.status} with resolution {issue.resolution}"
    if issue.status in WORKED_ON and not issue.assignee:
        yield f"{key} is {issue.status} and nobody's"
    if int(key.rpartition("-")[2]) > project.issues_so_far:
        yield f"{key} has a number that was not given out"
    if issue.minutes_logged != sum(w.minutes for w in tracker.worklogs.where(issue_key=key)):
        yield f"{key}: the minutes are not the sum of its work log"
    parent = tracker.issues.get(issue.parent) if issue.parent else None
    if parent and (parent.kind not in PARENTS[issue.kind] or parent.project_key != issue.project_key):
        yield f"{key} cannot be a child of {parent.issue_key}"
    if parent and parent.resolution and not issue.resolution:
        yield f"{key} is open, and {parent.issue_key}, of which it is a part, is {parent.status}"
    if issue.kind == "subtask" and not parent:
        yield f"{key} is a subtask of nothing"
    sprint = tracker.sprints.get(issue.sprint_id) if issue.sprint_id else None
    if sprint and sprint.project_key != issue.project_key:
        yield f"{key} is in a sprint of another project"
    if sprint and sprint.status == "closed" and not issue.resolution:
        yield f"{key} is open in {sprint.sprint_id}, which is over"
    if not {issue.reporter, *issue.watchers, *([issue.assignee] if issue.assignee else [])} <= set(project.members):
        yield f"{key} involves somebody from outside the project"
    if issue.labels != sorted(set(issue.labels)) or len(issue.watchers) != len(set(issue.watchers)):
        yield f"{key} has a label or a watcher twice"
    if issue.points is not None and issue.kind not in ESTIMATED:
        yield f"{key} is a {issue.kind} and has points"


def past(tracker: IssueTracker) -> Iterator[str]:
    if len(tracker.users.where(me=True)) != 1:
        yield "not exactly one user is signed in"
    for project in tracker.projects:
        yield from _history_of(tracker, project)
    for issue in tracker.issues:
        yield from _life_of(tracker, issue)
    worked: Counter[tuple[str, date]] = Counter()
    for log in tracker.worklogs:
        worked[log.author, log.day] += log.minutes
        if not tracker.issues.get(log.issue_key).created.date() <= log.day <= tracker.today:
            yield f"{log.worklog_id} tells of work on {log.day}, which is before its issue or still to come"
    yield from (f"{author} worked {minutes} minutes on {day}" for (author, day), minutes in worked.items() if minutes > FULL_DAY)
    written = [c.created for c in tracker.comments]
    if written != sorted(written):
        yield "comments are not numbered in the order in which they were written"


def _history_of(tracker: IssueTracker, project: Project) -> Iterator[str]:
    key, issues = project.project_key, tracker.issues.where(project_key=project.project_key)
    in_order = sorted(issues, key=lambda i: int(i.issue_key.rpartition("-")[2]))
    if any(one.created > other.created for one, other in pairwise(in_order)):
        yield f"issues of {key} are not numbered in the order in which they came in"
    if project.lead not in project.members or not tracker.users.get(project.lead).active:
        yield f"{key} is led by somebody who is not there"
    run = [(s.starts, s.ends, s) for s in tracker.sprints.where(project_key=key) if s.starts and s.ends]
    for starts, ends, sprint in run:
        if starts > min(ends, tracker.today) or sprint.status == "future":
            yield f"{sprint.sprint_id} is {sprint.status} and runs from {starts} to {ends}"
    if len(run) != sum(s.status != "future" for s in tracker.sprints.where(project_key=key)):
        yield f"a sprint of {key} has begun on no day"
    in_time = sorted(run, key=lambda r: (r[0], r[1]))
    if any(one[1] > other[0] for one, other in pairwise(in_time) if one[2].status == "closed"):
        yield f"two sprints of {key} ran at a time"


def _life_of(tracker: IssueTracker, issue: Issue) -> Iterator[str]:
    key = issue.issue_key
    if issue.created > tracker.now or (issue.resolved and not issue.created <= issue.resolved <= tracker.now):
        yield f"{key} was created {issue.created} and resolved {issue.resolved}"
    if issue.parent and tracker.issues.get(issue.parent).created > issue.created:
        yield f"{key} is older than what it is a part of"
    if issue.status == "resolved" and issue.resolved and issue.resolved + CLOSES_AFTER <= tracker.now:
        yield f"{key} should be closed by now"
    sprint = tracker.sprints.get(issue.sprint_id) if issue.sprint_id else None
    if sprint and sprint.status == "closed" and sprint.ends and issue.resolved and issue.resolved.date() > sprint.ends:
        yield f"{key} was resolved after its sprint, {sprint.sprint_id}, had ended"
    latest = issue.resolved + CLOSES_AFTER if issue.status == "closed" and issue.resolved else tracker.now
    if any(not issue.created <= c.created <= latest for c in tracker.comments.where(issue_key=key)):
        yield f"{key} has a comment from before it was created or after it was closed"
