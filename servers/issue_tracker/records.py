"""Who and what a tracker knows: people, projects with a workflow, issues, sprints, comments, links and work."""

from datetime import date, timedelta
from typing import Annotated, Literal, NewType

from prove.servers import Day, EmailAddress, Meta, Moment, PersonName, Record, Unordered

UserId = NewType("UserId", str)
ProjectId = NewType("ProjectId", str)
IssueId = NewType("IssueId", str)
TransitionId = NewType("TransitionId", str)
SprintId = NewType("SprintId", str)
CommentId = NewType("CommentId", str)
LinkId = NewType("LinkId", str)
WorklogId = NewType("WorklogId", str)

Job = Annotated[str, Meta(max_length=40, description="what somebody does in the company")]
ProjectName = Annotated[str, Meta(max_length=60, description="what a project is called")]
IssueKind = Annotated[
    Literal["epic", "story", "task", "bug", "subtask", "incident", "request"],
    Meta(description="what sort of issue; incidents and requests are for support projects, the other kinds for software"),
]
Summary = Annotated[str, Meta(min_length=3, max_length=120, description="the issue's one-line title")]
Description = Annotated[str, Meta(max_length=2000, description="the issue's body: what happens, or what is wanted")]
Priority = Annotated[Literal["lowest", "low", "medium", "high", "highest"], Meta(description="how urgent the issue is")]
Status = Annotated[
    Literal["to_do", "in_progress", "in_review", "done", "open", "waiting_for_customer", "resolved", "closed"],
    Meta(description="where the issue stands in its workflow"),
]
Resolution = Annotated[
    Literal["done", "wont_do", "duplicate", "cannot_reproduce"], Meta(description="how an issue was settled when it was resolved")
]
Points = Annotated[int, Meta(ge=0, le=100, description="the estimate in story points")]
Label = Annotated[
    str, Meta(pattern=r"^[a-z0-9][a-z0-9-]*$", max_length=40, description="a label: lower case, digits and hyphens, no spaces")
]
Labels = Annotated[Unordered[list[Label]], Meta(max_length=8, description="all labels it is to have, in place of those it has")]
LinkKind = Annotated[
    Literal["blocks", "relates_to", "duplicates", "causes"], Meta(description="what the first issue does to the other one")
]
CommentText = Annotated[str, Meta(min_length=1, max_length=2000, description="the comment's text")]
Minutes = Annotated[int, Meta(ge=1, le=1440, description="minutes of work")]
WorkNote = Annotated[str, Meta(max_length=200, description="what was worked on")]
SprintName = Annotated[str, Meta(min_length=1, max_length=30, description="the sprint's name")]
SprintGoal = Annotated[str, Meta(max_length=200, description="what the sprint is to achieve")]
LastDay = Annotated[date, Meta(description="the sprint's last day, YYYY-MM-DD")]
SprintStatus = Annotated[Literal["future", "active", "closed"], Meta(description="whether a sprint is still to come, runs, or is over")]
Workflow = Annotated[Literal["software", "support"], Meta(description="which steps the issues of a project go through")]

FIRST_STATUS: dict[str, Status] = {"software": "to_do", "support": "open"}
RESOLVED = ("done", "resolved", "closed")
WORKED_ON = ("in_progress", "in_review")  # by somebody
ESTIMATED = ("story", "task", "bug")
PARENTS = {  # kind -> the kinds its parent may be of; no parent where nothing is said
    "story": ("epic",),
    "task": ("epic",),
    "bug": ("epic",),
    "subtask": ("story", "task", "bug"),
}
KINDS = {"software": ("epic", *PARENTS), "support": ("incident", "request")}
CLOSES_AFTER = timedelta(days=5)  # how long a resolved support issue can still be taken back
FULL_DAY = 24 * 60


class User(Record):
    user_id: UserId
    name: PersonName
    email: EmailAddress
    job: Job
    active: bool = True
    me: bool = False  # the signed-in user


class Project(Record):
    project_key: ProjectId
    name: ProjectName
    workflow: Workflow
    lead: UserId
    members: list[UserId]
    archived: bool
    issues_so_far: int  # deleted ones too: a number is never given out twice


class Transition(Record):
    transition_id: TransitionId
    workflow: Workflow
    name: str
    from_statuses: list[Status]
    to_status: Status


class Issue(Record):
    issue_key: IssueId
    project_key: ProjectId
    kind: IssueKind
    summary: Summary
    description: Description
    status: Status
    priority: Priority
    reporter: UserId
    created: Moment
    watchers: list[UserId]
    assignee: UserId | None = None
    parent: IssueId | None = None
    sprint_id: SprintId | None = None
    points: Points | None = None
    labels: list[Label] = []
    minutes_logged: int = 0
    resolution: Resolution | None = None
    resolved: Moment | None = None


class Sprint(Record):
    sprint_id: SprintId
    project_key: ProjectId
    name: SprintName
    goal: SprintGoal
    status: SprintStatus = "future"
    starts: Day | None = None
    ends: Day | None = None


class Comment(Record):
    comment_id: CommentId
    issue_key: IssueId
    author: UserId
    text: CommentText
    created: Moment


class Link(Record):
    link_id: LinkId
    issue_key: IssueId
    kind: LinkKind
    other_key: IssueId


class Worklog(Record):
    worklog_id: WorklogId
    issue_key: IssueId
    author: UserId
    minutes: Minutes
    day: Day
    note: WorkNote


class IssueLine(Record):
    issue_key: IssueId
    summary: Summary
    kind: IssueKind
    status: Status
    assignee: UserId | None
    sprint_id: SprintId | None


class IssueView(Record):
    issue: Issue
    children: list[IssueId]
    links: list[Link]
    work: list[Worklog]


class SprintLine(Record):
    sprint_id: SprintId
    project_key: ProjectId
    name: SprintName
    goal: SprintGoal
    status: SprintStatus
    starts: Day | None
    ends: Day | None
    issues: list[IssueId]


class SprintReport(Record):
    sprint: Sprint
    done: int
    carried_over: list[IssueId]
