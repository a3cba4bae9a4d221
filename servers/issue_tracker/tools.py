"""Issue tracking for one signed-in user. An issue moves only along its project's workflow; support runs without sprints."""

from datetime import datetime

from msgspec.structs import asdict

from prove.servers import Limit, Offset, Page, Query, Server, given, matches, newest, page, read, require, some_given, table, write
from .records import (
    CLOSES_AFTER, ESTIMATED, FIRST_STATUS, FULL_DAY, KINDS, PARENTS, RESOLVED, WORKED_ON,
    Comment, CommentText, Day, Description, Issue, IssueId, IssueKind, IssueLine, IssueView, Labels, LastDay, Link, LinkKind,
    Minutes, Points, Priority, Project, ProjectId, Resolution, Sprint, SprintGoal, SprintId, SprintLine, SprintName, SprintReport,
    SprintStatus, Status, Summary, Transition, TransitionId, User, UserId, Worklog, WorkNote,
)  # fmt: skip

FOUND_AT_ONCE = 20


class IssueTracker(Server):
    """Projects, issues that follow a workflow, sprints, comments and work logs of one team."""

    category = "Knowledge"

    users = table(User, "USR-{}", start=301)
    projects = table(Project)
    transitions = table(Transition, "TRN-{}", start=11)
    issues = table(Issue, "{project}-{number}")  # numbered by project: see _next_key
    sprints = table(Sprint, "SPR-{}", start=41)
    comments = table(Comment, "CMT-{}", start=8001)
    links = table(Link, "LNK-{}", start=501)
    worklogs = table(Worklog, "WRK-{}", start=2001)

    # --- people and projects

    @read
    def list_projects(self, query: Query | None = None, limit: Limit = 20) -> Page[Project]:
        """List projects with their key, workflow and lead; query looks at key and name."""
        return page((p for p in self.projects if matches(query, p.project_key, p.name)), limit, Project)

    @read
    def search_users(self, query: Query | None = None, project_key: ProjectId | None = None, limit: Limit = 10) -> Page[User]:
        """Find people by name, email or job, or the members of a project; `me` marks the signed-in user."""
        members = self.projects.get(project_key).members if project_key else None
        among = [u for u in self.users if members is None or u.user_id in members]
        return page((u for u in among if matches(query, u.name, u.email, u.job)), limit, User)

    # --- issues

    @read
    def search_issues(
        self,
        query: Query | None = None,
        project_key: ProjectId | None = None,
        kind: IssueKind | None = None,
        status: Status | None = None,
        assignee: UserId | None = None,
        offset: Offset = 0,
    ) -> Page[IssueLine]:
        """Find issues, newest first, twenty at a time; query looks at key, summary, description and labels."""
        among = self.issues.where(**given(project_key=project_key, kind=kind, status=status, assignee=assignee))
        found = [i for i in among if matches(query, i.issue_key, i.summary, i.description, *i.labels)]
        return page(newest(found, lambda i: i.created), FOUND_AT_ONCE, IssueLine, offset)

    @read
    def get_issue(self, issue_key: IssueId) -> IssueView:
        """Show one issue in full, with its child issues, its links and its work log, newest first."""
        children = [c.issue_key for c in self.issues.where(parent=issue_key)]
        work = newest(self.worklogs.where(issue_key=issue_key), lambda w: w.day)
        return IssueView(self.issues.get(issue_key), children, self._links_of(issue_key), work)

    @write
    def create_issue(
        self,
        project_key: ProjectId,
        kind: IssueKind,
        summary: Summary,
        description: Description = "",
        priority: Priority = "medium",
        parent: IssueId | None = None,
    ) -> Issue:
        """Create an issue, reported and watched by the signed-in user; a subtask needs the parent that it is part of."""
        project, me = self._open_project(project_key), self._me()
        kinds = KINDS[project.workflow]
        require(kind in kinds, "invalid_argument", f"{project_key} is a {project.workflow} project: it takes {', '.join(kinds)}, no {kind}")
        require(kind != "subtask" or parent, "invalid_argument", "a subtask needs a parent: a story, task or bug")
        if parent:
            self._check_parent(kind, project, self.issues.get(parent))
        first = FIRST_STATUS[project.workflow]
        made = (project_key, kind, summary, description, first, priority, me, self.now, [me])
        return self.issues.add(Issue(self._next_key(project), *made, parent=parent))

    @write(idempotent=True)
    def update_issue(
        self,
        issue_key: IssueId,
        summary: Summary | None = None,
        description: Description | None = None,
        priority: Priority | None = None,
        points: Points | None = None,
        labels: Labels | None = None,
    ) -> Issue:
        """Change fields of an issue; status, assignee and sprint have tools of their own."""
        changes = some_given(summary=summary, description=description, priority=priority, points=points, labels=labels)
        kind = self._editable(issue_key).kind
        estimated = points is None or kind in ESTIMATED
        require(estimated, "invalid_argument", f"{issue_key} is of kind {kind}: only {', '.join(ESTIMATED)} have points, so leave them out")
        return self.issues.update(issue_key, **changes)

    @write(destructive=True)
    def delete_issue(self, issue_key: IssueId) -> Issue:
        """Delete an issue with its comments, links and work log; only its reporter and the project's lead may."""
        issue, me = self._editable(issue_key), self._me()
        allowed = (issue.reporter, self.projects.get(issue.project_key).lead)
        require(me in allowed, "permission_denied", f"only the reporter, {issue.reporter}, or the project's lead may delete {issue_key}")
        children = ", ".join(c.issue_key for c in self.issues.where(parent=issue_key))
        require(not children, "failed_precondition", f"{issue_key} has child issues: delete {children} first")
        for link in self._links_of(issue_key):
            self.links.remove(link.link_id)
        for rows in (self.comments, self.worklogs):
            for record in rows.where(issue_key=issue_key):
                rows.remove(rows.key_of(record))
        return self.issues.remove(issue_key)

    @write(idempotent=True)
    def assign_issue(self, issue_key: IssueId, assignee: UserId) -> Issue:
        """Give an issue to a member of its project."""
        issue = self._editable(issue_key)
        return self.issues.update(issue_key, assignee=self._member(issue, assignee).user_id)

    @write(idempotent=True)
    def add_watcher(self, issue_key: IssueId, user_id: UserId) -> Issue:
        """Let a member of the project follow an issue."""
        issue = self._editable(issue_key)
        watcher = self._member(issue, user_id).user_id
        return issue if watcher in issue.watchers else self.issues.update(issue_key, watchers=[*issue.watchers, watcher])

    @write
    def link_issues(self, issue_key: IssueId, kind: LinkKind, other_key: IssueId) -> Link:
        """Link two issues, of which one may be closed; a blocked issue cannot be done before the issue that blocks it."""
        issue, other = self.issues.get(issue_key), self.issues.get(other_key)
        for project_key in (issue.project_key, other.project_key):
            self._open_project(project_key)
        require(issue_key != other_key, "invalid_argument", f"{issue_key} cannot be linked to itself")
        both = issue.status == "closed" and other.status == "closed"
        require(not both, "failed_precondition", f"{issue_key} and {other_key} are both closed for good: link a new issue to each")
        pair = {issue_key, other_key}
        known = [link for link in self.links.where(kind=kind) if {link.issue_key, link.other_key} == pair]
        require(not known, "conflict", f"{issue_key} and {other_key} are linked already: one of them {kind} the other")
        if kind == "blocks":
            too_late = f"{other_key} is {other.status} already and waits for nothing: choose another kind of link, such as relates_to"
            require(not other.resolution, "failed_precondition", too_late)
            circle = f"{issue_key} already waits for {other_key}: they would wait for each other"
            require(not self._waits(issue_key, other_key), "conflict", circle)
        return self.links.add(Link(self.links.mint(), issue_key, kind, other_key))

    # --- the workflow

    @read
    def list_transitions(self, issue_key: IssueId) -> Page[Transition]:
        """List the steps that an issue can take from where it stands."""
        return page(self._steps(self.issues.get(issue_key)), 50, Transition)

    @write
    def transition_issue(self, issue_key: IssueId, transition_id: TransitionId, resolution: Resolution | None = None) -> Issue:
        """Take an issue one step along its workflow; a step that resolves it takes a resolution, "done" if none is given."""
        issue, step = self._editable(issue_key), self.transitions.get(transition_id)
        steps = self._steps(issue)
        possible = ", ".join(f"{s.transition_id} ({s.name})" for s in steps)
        require(step in steps, "failed_precondition", f"{issue_key} is {issue.status}; from there it can take {possible}")
        if step.to_status not in RESOLVED:
            require(not resolution, "invalid_argument", f"{step.name!r} does not resolve {issue_key}: leave out the resolution")
            ready = step.to_status not in WORKED_ON or issue.assignee
            require(ready, "failed_precondition", f"{issue_key} has no assignee: assign it first")
            return self._opened(issue, step.to_status)
        outcome = resolution or issue.resolution or "done"
        self._check_nothing_open_before(issue, outcome)
        return self.issues.update(issue_key, status=step.to_status, resolution=outcome, resolved=issue.resolved or self.now)

    # --- comments and work

    @write
    def add_comment(self, issue_key: IssueId, text: CommentText) -> Comment:
        """Comment on an issue as the signed-in user."""
        issue = self._editable(issue_key)
        return self.comments.add(Comment(self.comments.mint(), issue.issue_key, self._me(), text, self.now))

    @read
    def list_comments(self, issue_key: IssueId, limit: Limit = 10, offset: Offset = 0) -> Page[Comment]:
        """List the comments on an issue, newest first."""
        return page(newest(self.comments.where(issue_key=issue_key), lambda c: c.created), limit, Comment, offset)

    @write
    def log_work(self, issue_key: IssueId, minutes: Minutes, note: WorkNote = "", day: Day | None = None) -> Worklog:
        """Record time that the signed-in user spent on an issue, today unless a day is given."""
        issue, me, worked = self._editable(issue_key), self._me(), day or self.today
        require(worked <= self.today, "failed_precondition", f"{worked} is after today, {self.today}: log work once it is done")
        made = issue.created.date()
        require(worked >= made, "invalid_argument", f"{issue_key} was created on {made}: log work from that day on")
        free = FULL_DAY - sum(w.minutes for w in self.worklogs.where(day=worked) if w.author == me)
        require(minutes <= free, "resource_exhausted", f"{worked} has only {free} minutes left that are not logged yet")
        self.issues.update(issue_key, minutes_logged=issue.minutes_logged + minutes)
        return self.worklogs.add(Worklog(self.worklogs.mint(), issue.issue_key, me, minutes, worked, note))

    # --- sprints

    @read
    def list_sprints(
        self, project_key: ProjectId | None = None, status: SprintStatus | None = None, limit: Limit = 20, offset: Offset = 0
    ) -> Page[SprintLine]:
        """List sprints and the issues planned into each, the last planned sprint first."""
        found = self.sprints.where(**given(project_key=project_key, status=status))
        return page((self._line(s) for s in reversed(found)), limit, SprintLine, offset)

    @write
    def create_sprint(self, project_key: ProjectId, name: SprintName, goal: SprintGoal = "") -> Sprint:
        """Plan a sprint for a software project; it begins when it is started."""
        project = self._open_project(project_key)
        require(project.workflow == "software", "failed_precondition", f"{project_key} is a {project.workflow} project: it has no sprints")
        known = [s for s in self.sprints.where(project_key=project_key) if s.name.casefold() == name.casefold()]
        require(not known, "conflict", f"{project_key} already has a sprint {name!r}: choose another name")
        return self.sprints.add(Sprint(self.sprints.mint(), project.project_key, name, goal))

    @write
    def add_issue_to_sprint(self, issue_key: IssueId, sprint_id: SprintId) -> Issue:
        """Plan an unresolved issue into a sprint of its project that is not over, out of whatever sprint it was in."""
        issue, sprint = self._editable(issue_key), self.sprints.get(sprint_id)
        require(issue.kind not in ("epic", "subtask"), "invalid_argument", f"{issue_key} is of kind {issue.kind}: add the issues around it")
        self._check_planned(sprint, issue.project_key)
        require(not issue.resolution, "failed_precondition", f"{issue_key} is {issue.status} already: reopen it first")
        require(issue.sprint_id != sprint_id, "conflict", f"{issue_key} is in {sprint_id} already")
        return self.issues.update(issue_key, sprint_id=sprint.sprint_id)

    @write
    def start_sprint(self, sprint_id: SprintId, last_day: LastDay) -> Sprint:
        """Start a planned sprint that has issues, today; a project runs one sprint at a time."""
        sprint = self.sprints.get(sprint_id)
        self._open_project(sprint.project_key)
        require(sprint.status == "future", "failed_precondition", f"{sprint_id} is {sprint.status}: only a future sprint can be started")
        running = ", ".join(s.sprint_id for s in self.sprints.where(project_key=sprint.project_key, status="active"))
        require(not running, "failed_precondition", f"{running} of {sprint.project_key} is still active: complete it first")
        require(self.issues.where(sprint_id=sprint_id), "failed_precondition", f"{sprint_id} is empty: add issues to it first")
        require(last_day > self.today, "invalid_argument", f"{last_day} is not after today, {self.today}: choose a later end")
        return self.sprints.update(sprint_id, status="active", starts=self.today, ends=last_day)

    @write
    def complete_sprint(self, sprint_id: SprintId, move_open_to: SprintId | None = None) -> SprintReport:
        """End the active sprint; unresolved issues go to another sprint of the project, or else to the backlog."""
        sprint = self.sprints.get(sprint_id)
        self._open_project(sprint.project_key)
        require(sprint.status == "active", "failed_precondition", f"{sprint_id} is {sprint.status}: only an active sprint can be completed")
        if move_open_to:
            require(move_open_to != sprint_id, "invalid_argument", f"{sprint_id} ends: move its open issues to another sprint")
            self._check_planned(self.sprints.get(move_open_to), sprint.project_key)
        issues = self.issues.where(sprint_id=sprint_id)
        left = [i.issue_key for i in issues if not i.resolution]
        for key in left:
            self.issues.update(key, sprint_id=move_open_to)
        return SprintReport(self.sprints.update(sprint_id, status="closed", ends=self.today), len(issues) - len(left), left)

    # --- rules

    def due(self) -> datetime | None:
        return min((i.resolved + CLOSES_AFTER for i in self.issues.where(status="resolved") if i.resolved), default=None)

    def elapse(self) -> None:
        """Support issues that have been resolved for long enough are closed for good."""
        for issue in self.issues.where(status="resolved"):
            if issue.resolved and issue.resolved + CLOSES_AFTER <= self.now:
                self.issues.update(issue.issue_key, status="closed")

    def _me(self) -> UserId:
        return self.users.where(me=True)[0].user_id

    def _open_project(self, project_key: ProjectId) -> Project:
        project = self.projects.get(project_key)
        require(not project.archived, "failed_precondition", f"project {project_key} is archived: it can only be read")
        require(self._me() in project.members, "permission_denied", f"you are not a member of {project_key}: ask its lead, {project.lead}")
        return project

    def _editable(self, issue_key: IssueId) -> Issue:
        issue = self.issues.get(issue_key)
        self._open_project(issue.project_key)
        closed = f"{issue_key} is closed for good: create a new issue and link it to this one"
        require(issue.status != "closed", "failed_precondition", closed)
        return issue

    def _member(self, issue: Issue, user_id: UserId) -> User:
        user, project = self.users.get(user_id), self.projects.get(issue.project_key)
        require(user.active, "failed_precondition", f"{user_id} ({user.name}) has left: choose somebody who is active")
        outside = f"{user_id} ({user.name}) is not a member of {project.project_key}: search_users finds who is"
        require(user_id in project.members, "permission_denied", outside)
        return user

    def _next_key(self, project: Project) -> IssueId:
        number = project.issues_so_far + 1
        self.projects.update(project.project_key, issues_so_far=number)
        return IssueId(f"{project.project_key}-{number}")

    def _check_parent(self, kind: IssueKind, project: Project, parent: Issue) -> None:
        kinds = PARENTS.get(kind, ())
        fits = " or ".join(kinds) or "nothing"
        require(parent.kind in kinds, "invalid_argument", f"{parent.issue_key} is of kind {parent.kind}: {kind} can be part of {fits}")
        same = parent.project_key == project.project_key
        require(same, "invalid_argument", f"{parent.issue_key} is of another project: a parent is of the same one")
        require(not parent.resolution, "failed_precondition", f"{parent.issue_key} is {parent.status}: reopen it first")

    def _check_planned(self, sprint: Sprint, project_key: ProjectId) -> None:
        require(sprint.project_key == project_key, "invalid_argument", f"{sprint.sprint_id} is a sprint of {sprint.project_key}")
        require(sprint.status != "closed", "failed_precondition", f"{sprint.sprint_id} is closed: choose or create another sprint")

    def _check_nothing_open_before(self, issue: Issue, outcome: Resolution) -> None:
        """Children always come first; what blocks an issue matters only if it is really done."""
        before = self.issues.where(parent=issue.issue_key)
        if outcome == "done":
            before += map(self.issues.get, self._blockers(issue.issue_key))
        waiting = ", ".join(i.issue_key for i in before if not i.resolution)
        require(not waiting, "failed_precondition", f"{issue.issue_key} waits for {waiting}: resolve that first")

    def _steps(self, issue: Issue) -> list[Transition]:
        workflow = self.projects.get(issue.project_key).workflow
        return [t for t in self.transitions.where(workflow=workflow) if issue.status in t.from_statuses]

    def _opened(self, issue: Issue, status: Status) -> Issue:
        """An issue taken to an open status; out of a sprint that is over it goes to the backlog, and no parent is done before it."""
        parent = self.issues.get(issue.parent) if issue.parent else None
        settled = parent is not None and parent.resolution
        require(not settled, "failed_precondition", f"{issue.parent}, of which {issue.issue_key} is a part, is done: reopen that first")
        over = issue.sprint_id and self.sprints.get(issue.sprint_id).status == "closed"
        sprint_id = None if over else issue.sprint_id
        return self.issues.update(issue.issue_key, status=status, resolution=None, resolved=None, sprint_id=sprint_id)

    def _line(self, sprint: Sprint) -> SprintLine:
        issues = [i.issue_key for i in self.issues.where(sprint_id=sprint.sprint_id)]
        return SprintLine(**asdict(sprint), issues=issues)

    def _links_of(self, issue_key: IssueId) -> list[Link]:
        return [*self.links.where(issue_key=issue_key), *self.links.where(other_key=issue_key)]

    def _blockers(self, issue_key: IssueId) -> list[IssueId]:
        return [link.issue_key for link in self.links.where(other_key=issue_key, kind="blocks")]

    def _waits(self, issue_key: IssueId, other_key: IssueId) -> bool:
        """Whether an issue cannot be done before another, by way of blockers and of parts."""
        before = [*self._blockers(issue_key), *(child.issue_key for child in self.issues.where(parent=issue_key))]
        return other_key in before or any(self._waits(key, other_key) for key in before)
