"""One company's tracker: three software projects with their sprints, a support queue, an archived project, and people with a namesake."""

from datetime import date, datetime, timedelta
from typing import Any

import msgspec

from prove.servers.maker import Maker

from .records import CLOSES_AFTER, ESTIMATED, FIRST_STATUS, RESOLVED, Comment, Issue, Link, Project, Sprint, Transition, User, Worklog
from .tools import IssueTracker

WORKDAY = 8 * 60  # minutes that anybody logs for one day

STEPS = {  # workflow -> name, from, to
    "software": (
        ("Start progress", ["to_do", "in_review"], "in_progress"),
        ("Send to review", ["in_progress"], "in_review"),
        ("Finish", ["to_do", "in_review"], "done"),
        ("Put back", ["in_progress", "in_review", "done"], "to_do"),
    ),
    "support": (
        ("Pick up", ["open", "waiting_for_customer", "resolved"], "in_progress"),
        ("Ask the customer", ["open", "in_progress"], "waiting_for_customer"),
        ("Resolve", ["in_progress", "waiting_for_customer"], "resolved"),
        ("Close", ["resolved"], "closed"),
    ),
}

PROJECTS = {  # key -> name, what it is made of
    "WEB": ("Web Store", ("checkout", "product search", "order history", "gift card page", "wish list", "size guide", "returns form")),
    "MOB": ("Mobile App", ("sign-in screen", "push service", "barcode scanner", "photo upload", "map view", "offline mode", "profile")),
    "PAY": ("Payments", ("card form", "refund queue", "invoice export", "fraud check", "payout report", "currency picker", "receipt page")),
    "DWH": ("Data Warehouse", ("nightly import", "sales report", "churn table", "event feed", "cost report", "user table", "cohort view")),
    "OPS": ("Infrastructure", ("log shipper", "backup job", "deploy script", "status page", "alert router", "build cache", "test mirror")),
    "IAM": ("Accounts", ("password reset", "role editor", "audit trail", "team invite", "consent page", "session list", "key vault")),
}
SUPPORTED = ("password email", "invoice download", "parcel tracking", "voucher code", "newsletter", "shop login", "chat window")

FAULTS = (
    "{} crashes after the update", "{} is slow under load", "{} loses input when the session expires",
    "{} shows stale data after a refresh", "{} ignores the chosen language", "{} fails for names with accents",
    "{} shows times in the wrong zone", "{} reports success on failure",
)  # fmt: skip
CHORES = (
    "Write integration tests for the {}", "Document the {}", "Add audit logging to the {}", "Upgrade the libraries behind the {}",
    "Remove dead code from the {}", "Measure response times of the {}", "Put the {} behind a feature flag", "Cache what the {} reads",
)  # fmt: skip
WISHES = (
    "Let users undo changes in the {}", "Make the {} usable by keyboard", "Add a dark theme to the {}",
    "Send a weekly digest from the {}", "Offer CSV export in the {}", "Show a progress bar in the {}",
    "Remember filters in the {}", "Explain errors of the {} in plain words",
)  # fmt: skip
THEMES = ("Modernise the {}", "Scale the {} to ten times the traffic", "Make the {} self-service")
PARTS = ("Agree on the wording", "Draft the design", "Migrate old records", "Update the help page", "Test on small screens")
OUTAGES = ("{} is down", "{} fails for one customer", "{} is very slow this morning")
REQUESTS = ("Question about the {}", "Turn off the {} for one customer", "Refund after a problem with the {}", "Change the {} for a shop")

BODIES = {
    "epic": ("Collects the work for this quarter's goal.", "Agreed with the stakeholders; see the plan for the order of things."),
    "story": ("Asked for by several customers in the last survey.", "Came out of the usability test."),
    "task": ("Left over from the last release.", "Should not change anything that users see.", ""),
    "bug": ("Happens every time on staging.", "Seen twice this week, both times in the evening.", "Open it, go back, open it again."),
    "subtask": ("", "Part of the parent's plan."),
    "incident": ("The customer cannot work until it is fixed.", "Several shops called about it within an hour."),
    "request": ("The customer wrote through the contact form.", "Came in by phone; promised an answer by tomorrow."),
}
TALK = (
    "I can reproduce this on staging", "Looks like a timeout, I'll add a trace", "Moved to the next release as agreed in planning",
    "Fix is on a branch, please have a look", "The customer confirmed that the workaround helps",
    "Could somebody test this on an older phone?", "Rolled back, the numbers were off", "This is the third report in a month",
    "Blocked until we hear from the vendor", "Works for me now, can we close it?", "Added the screenshots from support",
    "Let's talk about the scope before we start",
)  # fmt: skip
WORK = ("analysis", "pairing on the fix", "code review", "writing tests", "call with support", "clean-up", "")
LABELS = ("regression", "quick-win", "security", "accessibility", "performance", "tech-debt", "customer-request", "needs-design")
GOALS = ("Fewer support calls", "Ship the beta", "Stable releases", "Faster start", "Clear the bug list", "Ready for the audit")
JOBS = ("Developer", "Developer", "Developer", "Tester", "Designer", "Product owner", "Support agent", "Team lead")
PRIORITIES = ("lowest", "low", "medium", "medium", "medium", "high", "high", "highest")


def populate(tracker: IssueTracker, make: Maker) -> None:
    _people(tracker, make)
    for workflow, steps in STEPS.items():
        for name, before, after in steps:
            tracker.transitions.add(Transition(tracker.transitions.mint(), workflow, name, before, after))
    for i, key in enumerate(make.some(list(PROJECTS), 3)):
        _software_project(tracker, make, key, running=i > 0)
    _support_project(tracker, make)
    _archived_project(tracker, make)
    _talk_and_work(tracker, make)
    _links(tracker, make)


def _people(tracker: IssueTracker, make: Maker) -> None:
    names = [make.person() for _ in range(13)]
    while (namesake := f"{names[1].split()[0]} {make.faker.last_name()}") in names:  # two people of one first name
        pass
    names.append(namesake)
    for i, name in enumerate(names):
        job = "Team lead" if i == 0 else make.pick(JOBS)
        tracker.users.add(User(tracker.users.mint(), name, make.email(name), job, active=i not in (5, 9), me=i == 0))


def _project(tracker: IssueTracker, make: Maker, key: str, name: str, workflow: str, archived: bool = False, mine: bool = True) -> Project:
    me, *others = [u.user_id for u in tracker.users]
    members = make.some(others, 8)
    everyone = [me, *members] if mine else members
    lead = me if mine and make.chance(0.3) else make.pick([u for u in members if tracker.users.get(u).active])
    return tracker.projects.add(Project(key, name, workflow, lead, everyone, archived, make.between(20, 400)))


class Plan(msgspec.Struct):
    """An issue of which everything is known but its number: numbers follow the time of creation."""

    kind: str
    summary: str
    created: datetime
    status: str
    parent: "Plan | None" = None
    sprint: Sprint | None = None


def _software_project(tracker: IssueTracker, make: Maker, key: str, running: bool) -> None:
    name, components = PROJECTS[key]
    project = _project(tracker, make, key, name, "software")
    kinds = {"bug": FAULTS, "task": CHORES, "story": WISHES}
    ideas = [(kind, text.format(c)) for kind, texts in kinds.items() for text in texts for c in components]
    ideas = make.shuffled(make.some(ideas, 36))
    epics = [Plan("epic", THEMES[i].format(c), _some_time(make, 190 - i), "to_do") for i, c in enumerate(make.some(components, 3))]
    plans, sprints = list(epics), _sprints(tracker, make, project, running)
    for i, (kind, summary) in enumerate(ideas):  # oldest first: done long ago, then in a sprint, then in the backlog
        sprint = sprints[i // 8] if i < 24 else None
        parent = make.pick(epics) if make.chance(0.3) else None
        plan = Plan(kind, summary, _some_time(make, 160 - i * 4), _status_in(make, sprint), parent, sprint)
        plans.append(plan)
        if i % 9 == 5 and plan.status in ("to_do", "in_progress"):
            for part in make.some(PARTS, 2):
                status = make.pick(("to_do", "in_progress", "done"))
                plans.append(Plan("subtask", f"{part}: {summary[0].lower()}{summary[1:]}", _some_time(make, 1), status, plan))
    _file(tracker, make, project, plans)


def _some_time(make: Maker, age: int, at_work: bool = True) -> datetime:
    moment = make.moment(-age, make.between(8, 17), make.between(0, 59))
    return _at_work(moment) if at_work else moment


def _at_work(moment: datetime) -> datetime:
    """The last time until then at which a team was at work: by day, and not on a weekend."""
    if not 8 <= moment.hour < 18:
        moment = moment.replace(hour=8 + moment.hour % 10) - timedelta(days=moment.hour < 8)
    return moment - timedelta(days=max(0, moment.weekday() - 4))


def _sprints(tracker: IssueTracker, make: Maker, project: Project, running: bool) -> list[Sprint]:
    """One that is over, one that runs (in some projects it has yet to be started), one to come, and an empty one."""
    number, offset = make.between(5, 30), make.between(1, 13)
    weekend = max(0, make.day(-offset).weekday() - 4)  # then it begins on the Monday, or on the Friday if that is still to come
    offset += weekend and (weekend - 3 if offset + weekend >= 3 else weekend)
    plan = [("closed", -14 - offset), ("active" if running else "future", -offset), ("future", 0), ("future", 0)]
    out = []
    for i, (status, start) in enumerate(plan):
        days = (None, None) if status == "future" else (make.day(start), make.day(start + 13))
        name = f"{project.project_key} Sprint {number + i}"
        sprint = Sprint(tracker.sprints.mint(), project.project_key, name, make.pick(GOALS), status, *days)
        out.append(tracker.sprints.add(sprint))
    return out


def _status_in(make: Maker, sprint: Sprint | None) -> str:
    if sprint and sprint.status == "closed":
        return "done"
    if sprint and sprint.status == "active":
        return make.pick(("to_do", "in_progress", "in_progress", "in_review", "in_review", "done"))
    return make.pick(("to_do", "to_do", "to_do", "to_do", "in_progress"))


def _support_project(tracker: IssueTracker, make: Maker) -> None:
    project = _project(tracker, make, "SUP", "Customer Support", "support")
    ideas = [(kind, text.format(s)) for kind, texts in (("incident", OUTAGES), ("request", REQUESTS)) for text in texts for s in SUPPORTED]
    plans = []
    for i, (kind, summary) in enumerate(make.shuffled(ideas)[:30]):
        statuses = ("closed",) if i < 8 else ("resolved",) if i < 13 else ("open", "in_progress", "waiting_for_customer")
        age = 120 - i * 12 if i < 8 else 1 + (30 - i) // 6
        plans.append(Plan(kind, summary, _some_time(make, age, at_work=False), make.pick(statuses)))
    _file(tracker, make, project, plans)


def _archived_project(tracker: IssueTracker, make: Maker) -> None:
    project = _project(tracker, make, "LEG", "Legacy Importer", "software", archived=True)
    chores = [chore.format("old importer") for chore in make.some(CHORES, 5)]
    _file(tracker, make, project, [Plan("task", c, _some_time(make, 300 - i), make.pick(("done", "to_do"))) for i, c in enumerate(chores)])
    project = _project(tracker, make, "HR", "People Office", "support", mine=False)
    requests = ("Order a laptop for the new colleague", "Update the holiday calendar", "Renew the language course")
    _file(tracker, make, project, [Plan("request", request, _some_time(make, 3), "open") for request in requests])


def _file(tracker: IssueTracker, make: Maker, project: Project, plans: list[Plan]) -> None:
    """Number the issues of a project as they came in, a parent before its children."""
    active = [u for u in project.members if tracker.users.get(u).active]
    keys: dict[int, str] = {}
    for plan in sorted(plans, key=lambda p: p.created):
        keys[id(plan)] = key = tracker._next_key(tracker.projects.get(project.project_key))
        kind, status, created = plan.kind, plan.status, plan.created
        writers = active if created > _left(make) else project.members
        reporter, assignee = make.pick([*writers, *project.members[:1] * 3]), make.pick(active)
        idle = kind == "epic" or (status in FIRST_STATUS.values() and make.chance(0.5))
        watchers = list(dict.fromkeys([reporter, *make.some(active, make.between(0, 2))]))
        more: dict[str, Any] = {"parent": keys[id(plan.parent)] if plan.parent else None}
        more["sprint_id"] = plan.sprint.sprint_id if plan.sprint else None
        if kind in ESTIMATED and make.chance(0.8):
            more["points"] = make.pick((1, 2, 3, 5, 8, 13))
        if status in RESOLVED:
            more["resolution"] = make.pick(("done", "done", "done", "wont_do", "duplicate"))
            more["resolved"] = _resolved(make, plan)
        body, priority, labels = make.pick(BODIES[kind]), make.pick(PRIORITIES), sorted(make.some(LABELS, make.pick((0, 0, 1, 2))))
        summary = plan.summary[0].upper() + plan.summary[1:]
        told = (project.project_key, kind, summary, body, status, priority, reporter, created, watchers)
        tracker.issues.add(Issue(key, *told, assignee=None if idle else assignee, labels=labels, **more))


def _resolved(make: Maker, plan: Plan) -> datetime:
    """In its sprint while that ran, or else some days after it was reported; in any case before now."""
    latest = make.start - timedelta(hours=2)
    if plan.sprint and plan.sprint.starts:
        day = plan.sprint.starts + timedelta(days=make.between(0, 12))
        return min(datetime.combine(day, latest.time(), latest.tzinfo) + timedelta(minutes=make.between(60, 500)), latest)
    return min(plan.created + timedelta(days=make.between(1, 9)), latest)


def _talk_and_work(tracker: IssueTracker, make: Maker) -> None:
    """Comments in the order in which they were written, and a work log in which nobody's day is too long."""
    said: list[tuple[datetime, str, str, str]] = []
    days: dict[tuple[str, date], int] = {}
    for issue in list(tracker.issues):
        end = min((issue.resolved or make.start) + CLOSES_AFTER, make.start) if issue.status == "closed" else make.start
        hours = (end - issue.created) // timedelta(hours=1)
        members = tracker.projects.get(issue.project_key).members
        active = [u for u in members if tracker.users.get(u).active]
        for i, text in enumerate(make.some(TALK, make.pick((0, 0, 1, 1, 2, 3)))):
            written = max(issue.created, _at_work(issue.created + timedelta(hours=hours * (i + 1) // 5)))
            writers = active if written > _left(make) else members
            said.append((written, issue.issue_key, make.pick(writers), text))
        if issue.status not in FIRST_STATUS.values() and issue.kind != "epic" and make.chance(0.6):
            _log(tracker, make, issue, issue.resolved or make.start, days)
    for written, key, author, text in sorted(said):
        tracker.comments.add(Comment(tracker.comments.mint(), key, author, text, written))


def _log(tracker: IssueTracker, make: Maker, issue: Issue, until: datetime, days: dict[tuple[str, date], int]) -> None:
    """What the assignee did on one day, up to three weeks before the issue was resolved, or before now."""
    author, minutes = issue.assignee or issue.reporter, make.between(15, 300, 15)
    day = until.date() - timedelta(days=make.between(0, min((until - issue.created).days, 20)))
    day = max(issue.created.date(), day - timedelta(days=max(0, day.weekday() - 4)))
    if days.setdefault((author, day), 0) + minutes <= WORKDAY:
        days[author, day] += minutes
        tracker.worklogs.add(Worklog(tracker.worklogs.mint(), issue.issue_key, author, minutes, day, make.pick(WORK)))
        tracker.issues.update(issue.issue_key, minutes_logged=minutes)


def _left(make: Maker) -> datetime:
    """When those left who are no longer there."""
    return make.start - timedelta(days=45)


def _links(tracker: IssueTracker, make: Maker) -> None:
    """An issue blocks only later ones of its project, so that none wait for each other; a duplicate has something earlier of its kind."""
    for project in tracker.projects.where(workflow="software", archived=False):
        issues = [i for i in tracker.issues.where(project_key=project.project_key) if not i.resolution]
        ends = make.some([i for i in issues if i.kind in ("story", "task", "bug")], 12)
        for first, second in zip(ends[::2], ends[1::2], strict=False):
            kind = make.pick(("blocks", "blocks", "relates_to", "duplicates", "causes"))
            tracker.links.add(Link(tracker.links.mint(), first.issue_key, kind, second.issue_key))
    for issue in tracker.issues.where(resolution="duplicate"):
        alike = [i for i in tracker.issues.where(project_key=issue.project_key, kind=issue.kind) if i.created < issue.created]
        if alike:
            tracker.links.add(Link(tracker.links.mint(), issue.issue_key, "duplicates", make.pick(alike).issue_key))
        else:  # there was nothing yet that it could have been a duplicate of
            tracker.issues.update(issue.issue_key, resolution="wont_do")
