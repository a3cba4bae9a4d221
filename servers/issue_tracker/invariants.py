"""What must hold in an issue tracker after every call."""

from collections.abc import Iterator

from servers.issue_tracker.tools import KINDS, PARENTS, RESOLVED, Issue, IssueTracker


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
        if link.kind == "blocks" and tracker._blocks(link.other_key, link.issue_key):
            yield f"{link.issue_key} and {link.other_key} wait for each other"


def _wrong_with(tracker: IssueTracker, issue: Issue) -> Iterator[str]:
    key, project = issue.issue_key, tracker.projects.get(issue.project_key)
    if issue.kind not in KINDS[project.workflow]:
        yield f"{key} is a {issue.kind} in a {project.workflow} project"
    if (issue.status in RESOLVED) != bool(issue.resolution) or bool(issue.resolution) != bool(issue.resolved):
        yield f"{key} is {issue.status} with resolution {issue.resolution}"
    if int(key.rpartition("-")[2]) > project.issues_so_far:
        yield f"{key} has a number that was not given out"
    if issue.minutes_logged != sum(w.minutes for w in tracker.worklogs.where(issue_key=key)):
        yield f"{key}: the minutes are not the sum of its work log"
    parent = tracker.issues.get(issue.parent) if issue.parent else None
    if parent and (parent.kind not in PARENTS[issue.kind] or parent.project_key != issue.project_key):
        yield f"{key} cannot be a child of {parent.issue_key}"
    if issue.kind == "subtask" and not parent:
        yield f"{key} is a subtask of nothing"
    if issue.sprint_id and tracker.sprints.get(issue.sprint_id).project_key != issue.project_key:
        yield f"{key} is in a sprint of another project"
    if not {issue.reporter, *issue.watchers, *([issue.assignee] if issue.assignee else [])} <= set(project.members):
        yield f"{key} involves somebody from outside the project"
