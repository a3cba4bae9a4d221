"""One user's computer: a home with projects and papers, two colleagues, a shared directory, the system's own files."""

from datetime import datetime, timedelta
from posixpath import basename, dirname

from dateutil.relativedelta import relativedelta

from prove.servers.maker import Maker

from .paths import at, tar_size
from .records import Entry, Kind, Login
from .texts import text_of
from .tools import Filesystem

MEGABYTE = 1_000_000

PROJECTS = {  # name -> (what it is, its modules, its table)
    "trailmap": ("a planner for long walks", ("route", "terrain", "export"), "waypoints"),
    "greenhouse": ("a controller for a small greenhouse", ("sensors", "watering", "schedule"), "readings"),
    "ledger": ("bookkeeping from the command line", ("journal", "accounts", "report"), "entries"),
    "birdsong": ("a classifier of bird calls", ("spectrum", "model", "labels"), "recordings"),
    "tideclock": ("tide tables for sailors", ("harmonics", "stations", "display"), "stations"),
    "papertrail": ("a search index for scanned letters", ("scanner", "index", "query"), "letters"),
}
TABLES = {  # name -> (its columns, what its rows are about)
    "waypoints": ("name,altitude,distance", ("Col de Fer", "Hut Bergli", "North Ridge", "Lake Ferret", "Old Mill", "Pine Saddle")),
    "readings": ("sensor,temperature,humidity", ("bed-1", "bed-2", "bench", "door", "tank")),
    "entries": ("account,debit,credit", ("cash", "rent", "travel", "software", "postage")),
    "recordings": ("species,seconds,quality", ("wren", "robin", "blackcap", "chiffchaff", "nuthatch")),
    "stations": ("port,latitude,longitude", ("Brest", "Dover", "Esbjerg", "Bergen", "Vigo")),
    "letters": ("sender,pages,year", ("Aunt Ida", "Notary", "Town hall", "Insurance", "School")),
}
REPORTS = ("energy", "travel", "hiring", "security", "customers", "warehouse", "training", "accessibility")
TOPICS = ("kitchen renovation", "spring campaign", "team offsite", "data migration", "new supplier", "conference talk", "bike tour")
POINTS = (
    "Ask for a second quote before the deadline.",
    "TODO: confirm the dates with everybody.",
    "The draft went out for review last week.",
    "Costs are TBD until the supplier answers.",
    "Two questions are still open, see the minutes.",
    "TODO: send the signed contract back.",
    "Agreed to meet again on Thursday.",
    "The first version was too long; cut it to two pages.",
    "Next step: collect feedback and plan the pilot.",
    "The invoice is pending and will be paid this month.",
)
ITEMS = ("hiking boots", "desk lamp", "train tickets", "printer paper", "dentist", "language course", "phone bill", "garden soil")
SUPPLIERS = ("Harbour Print", "Oakline Furniture", "Bluewire Hosting", "Fennel Catering", "Summit Travel", "Kestrel Couriers")
CITIES = ("Lisbon", "Oslo", "Ghent", "Porto", "Krakow", "Trieste", "Uppsala")
WORDS = ("apricot", "basil", "cinnamon", "dill", "endive", "fennel", "ginger", "hazelnut", "juniper", "lentils", "mustard", "nutmeg")
SERVICES = ("web", "worker", "scheduler", "mailer")
EVENTS = (
    "INFO request served",
    "INFO job finished",
    "INFO cache refreshed",
    "WARN slow response",
    "WARN retrying connection",
    "ERROR timeout while reading",
    "ERROR connection refused",
    "ERROR disk almost full",
)


def populate(fs: Filesystem, make: Maker) -> None:
    people: dict[str, str] = {}  # by first name, which is their user name
    while len(people) < 3:
        name = make.person()
        people.setdefault(name.split()[0].lower(), name)
    user, colleague, stranger = people
    home = f"/home/{user}"
    groups = (user, "staff", "editors", "devs", make.pick(("audio", "video", "printing")))
    _system(Builder(fs, make, "root", "root"), make, list(people), groups)
    _left_in_tmp(Builder(fs, make, colleague, colleague), make)
    _shared(Builder(fs, make, "root", "staff"), Builder(fs, make, colleague, "staff"), make)
    _colleagues(fs, make, colleague, stranger)
    mine = Builder(fs, make, user, user)
    mine.directory(home, "750")
    _papers(mine, make, home, list(people.values()))
    _downloads(mine, make, home)
    _projects(mine, make, home)
    _oddities(mine, make, home)
    used = sum(e.size for e in fs.entries if e.owner == user)
    room = make.pick((12_000, 30 * MEGABYTE, 120 * MEGABYTE, 400 * MEGABYTE))  # some people have hardly any left
    _date_directories(fs)
    fs.logins.add(Login(user, groups, home, home, used + room, 2_000))


class Builder:
    """Adds entries that belong to one user and group."""

    def __init__(self, fs: Filesystem, make: Maker, owner: str, group: str) -> None:
        self.fs, self.make, self.owner, self.group = fs, make, owner, group

    def some_day(self, first: int = 400, last: int = 1) -> datetime:
        """A moment between so many days ago and so many."""
        return self.make.moment(-self.make.between(last, first), self.make.between(7, 21), self.make.between(0, 59))

    def add(self, path: str, kind: Kind, mode: str, size: int, modified: datetime | None = None, **more: object) -> None:
        some_day = self.some_day()
        folder, name = (dirname(path), basename(path)) if path != "/" else ("", "/")
        self.fs.entries.add(Entry(path, folder, name, kind, self.owner, self.group, mode, size, modified or some_day, **more))

    def directory(self, path: str, mode: str = "755") -> None:
        self.add(path, "directory", mode, 0)

    def text(self, path: str, *lines: str, mode: str = "644", modified: datetime | None = None) -> None:
        data = text_of(list(lines))
        self.add(path, "file", mode, len(data.encode()), modified, data=data)

    def log(self, path: str, service: str, count: int, mode: str = "644") -> None:
        """What a service did yesterday, in the order of time."""
        make, yesterday = self.make, self.make.day(-1)
        minutes = sorted(make.between(0, 24 * 60 - 1) for _ in range(count))
        lines = (f"{yesterday} {m // 60:02}:{m % 60:02} {service} {make.pick(EVENTS)}" for m in minutes)
        self.text(path, *lines, mode=mode, modified=make.moment(0, 0, 1))

    def binary(self, path: str, size: int, modified: datetime | None = None) -> None:
        self.add(path, "file", "644", size, modified, data=self.make.digits(24), binary=True)

    def link(self, path: str, target: str) -> None:
        self.add(path, "link", "777", len(target), target=target)

    def archive(self, path: str, top: str) -> None:
        """Pack a directory with all that is below it, some time after the last change to any of it."""
        above = f"{dirname(top)}/"
        held = [e for e in self.fs.entries if e.path == top or e.path.startswith(f"{top}/")]
        members = tuple(at(e, e.path.removeprefix(above)) for e in held)
        changed = max(m.modified for m in members)
        packed = changed + (self.make.start - changed) * self.make.between(5, 95) / 100
        self.add(path, "file", "644", tar_size(members), packed.replace(microsecond=0), binary=True, members=members)


def _date_directories(fs: Filesystem) -> None:
    """A directory was changed when the youngest of what it holds was made."""
    youngest: dict[str, datetime] = {}
    for entry in reversed(list(fs.entries)):  # what a directory holds was added after it
        if entry.path in youngest:
            fs.entries.update(entry.path, modified=youngest[entry.path])
        youngest[entry.folder] = max(entry.modified, youngest.get(entry.folder, entry.modified))


# --- the system's own files, and other people's


def _system(build: Builder, make: Maker, people: list[str], groups: tuple[str, ...]) -> None:
    for path in ("/", "/etc", "/home", "/srv", "/usr", "/usr/share", "/usr/share/doc", "/var", "/var/log"):
        build.directory(path)
    build.directory("/root", "700")
    build.directory("/tmp", "1777")
    build.text("/etc/hosts", "127.0.0.1 localhost", f"10.0.0.{make.between(2, 250)} printer", f"10.0.0.{make.between(2, 250)} backup")
    build.text("/etc/motd", "Welcome. Backups run every night; please keep /tmp tidy.")
    accounts = [f"{name}:x:{uid}:{uid}::/home/{name}:/bin/bash" for uid, name in enumerate(people, 1000)]
    build.text("/etc/passwd", "root:x:0:0:root:/root:/bin/sh", *accounts)
    own = [f"{name}:x:{gid}:{name}" for gid, name in enumerate(people, 1000)]
    shared = [f"{group}:x:{gid}:{','.join(people[:2] if group == 'staff' else people[:1])}" for gid, group in enumerate(groups[1:], 100)]
    build.text("/etc/group", "root:x:0:root", *own, *shared)
    build.text("/etc/shadow", "root:*:19700:0:99999:7:::", mode="600")
    build.text("/usr/share/doc/README", "Documentation of the installed programs.", "See also the manual pages.")
    for service in SERVICES:
        build.log(f"/var/log/{service}.log", service, make.between(20, 60))
    build.log("/var/log/auth.log", "auth", 12, mode="640")


def _left_in_tmp(build: Builder, make: Maker) -> None:
    """What a colleague left in the sticky directory: everybody may read it, and only they may take it away."""
    build.text("/tmp/print_queue.txt", *make.some(POINTS, 3), mode="666")
    build.text("/tmp/upload_part1.csv", "day,count", *(f"{make.day(-n)},{make.between(1, 99)}" for n in range(9, 1, -1)))


def _shared(system: Builder, colleague: Builder, make: Maker) -> None:
    system.directory("/srv/team", "775")
    system.directory("/srv/public")
    system.text("/srv/public/holidays.txt", "New Year: closed", "Easter Monday: closed", "Labour Day: closed")
    colleague.directory("/srv/team/minutes", "775")
    for ago in (4, 3, 2, 1):  # written on the last day of each of the last months
        end = make.start.replace(day=1, hour=16, minute=ago * 11) - relativedelta(months=ago - 1) - timedelta(days=1)
        text = (f"# Minutes of {end:%B} {end.year}", *make.some(POINTS, 4))
        colleague.text(f"/srv/team/minutes/minutes_{f'{end:%B}'.lower()}.md", *text, mode="664", modified=end)
    colleague.text("/srv/team/handbook.md", "# Handbook", "Status: final", "", *make.some(POINTS, 3), mode="644")
    rows = [f"{day},{make.faker.first_name()}" for day in ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday")]
    colleague.text("/srv/team/rota.csv", "day,person", *rows, mode="664")
    colleague.text("/srv/team/salaries.csv", "person,salary", mode="600")


def _colleagues(fs: Filesystem, make: Maker, colleague: str, stranger: str) -> None:
    open_home, closed_home = Builder(fs, make, colleague, colleague), Builder(fs, make, stranger, stranger)
    open_home.directory(f"/home/{colleague}")
    open_home.text(f"/home/{colleague}/todo.txt", *make.some(POINTS, 4))
    open_home.text(f"/home/{colleague}/diary.txt", "Private.", mode="600")
    closed_home.directory(f"/home/{stranger}", "700")
    closed_home.text(f"/home/{stranger}/todo.txt", *make.some(POINTS, 2))


# --- the user's home


def _papers(build: Builder, make: Maker, home: str, people: list[str]) -> None:
    papers = f"{home}/Documents"
    for path in (papers, f"{papers}/reports", f"{papers}/invoices", f"{papers}/letters", f"{papers}/notes", f"{papers}/old"):
        build.directory(path)
    for topic in make.some(REPORTS, 5):
        status, written = make.pick(("draft", "draft", "final")), build.some_day(300)
        text = (f"# The {topic} report {written.year}", f"Status: {status}", f"Author: {make.pick(people)}", "", *make.some(POINTS, 5))
        build.text(f"{papers}/reports/{topic}_report.md", *text, modified=written)
        if make.chance(0.6):  # an earlier version, of which a line or two is different
            first = (text[0], "Status: draft", *text[2:-1], make.pick(POINTS))
            build.text(f"{papers}/reports/{topic}_report_v1.md", *first, modified=written - timedelta(days=make.between(1, 20)))
    for number in range(make.between(1040, 1060), 1075, 3):  # the lower its number, the older an invoice
        lines = (f"Invoice {number}", f"From: {make.pick(SUPPLIERS)}", f"Amount: {make.between(40, 2400)}.00 EUR", "Status: pending")
        build.text(f"{papers}/invoices/invoice_{number}.txt", *lines, modified=make.moment(number - 1080, 9 + number % 8, number % 60))
    for city in make.some(CITIES, 3):
        text = (f"Dear {make.pick(people)},", "", f"greetings from {city}.", *make.some(POINTS, 2))
        build.text(f"{papers}/letters/letter_{city.lower()}.txt", *text)
    for topic in make.some(TOPICS, 5):
        build.text(f"{papers}/notes/{topic.replace(' ', '_')}.md", f"# {topic.capitalize()}", "Status: draft", *make.some(POINTS, 4))
    rows = [f"{make.day(-n * 6)},{make.pick(ITEMS)},{make.between(5, 180)}.{make.digits(2)}" for n in range(24, 0, -1)]
    build.text(f"{papers}/expenses.csv", "date,item,amount", *rows, modified=make.moment(-5, 18))
    build.text(f"{papers}/Meeting notes.md", "# Meeting notes", *make.some(POINTS, 6))
    build.text(f"{papers}/contract.txt", "Contract of employment", f"Employee: {people[0]}", "Notice period: three months", mode="444")
    build.binary(f"{papers}/passport_scan.pdf", make.between(400_000, 900_000))


def _downloads(build: Builder, make: Maker, home: str) -> None:
    for path in (f"{home}/Downloads", f"{home}/Pictures", f"{home}/Pictures/holiday", f"{home}/Desktop"):
        build.directory(path)
    build.binary(f"{home}/Downloads/editor-installer.bin", make.between(20, 60) * MEGABYTE)
    build.binary(f"{home}/Downloads/timetable.pdf", make.between(100_000, 300_000))
    build.log(f"{home}/Downloads/setup.log", "setup", 30)
    first, day = make.between(2000, 2400), make.between(40, 300)
    for number in range(first, first + make.between(5, 9)):  # one after the other
        taken = make.moment(number - first - day, 10, number % 60)
        build.binary(f"{home}/Pictures/holiday/IMG_{number}.jpg", make.between(900_000, 4_500_000), taken)
    build.binary(f"{home}/Pictures/portrait.png", make.between(300_000, 800_000))
    shopping = [make.pick(WORDS) for _ in range(14)]  # with repetitions, in no order
    build.text(f"{home}/Desktop/shopping_list.txt", *shopping)
    build.text(f"{home}/Desktop/guests.txt", *(make.faker.first_name() for _ in range(8)))


def _projects(build: Builder, make: Maker, home: str) -> None:
    build.directory(f"{home}/projects")
    names = make.some(list(PROJECTS), 3)
    for name in names:
        _project(build, make, f"{home}/projects/{name}", name)
    build.directory(f"{home}/backups")
    build.archive(f"{home}/backups/{names[0]}.tar", f"{home}/projects/{names[0]}")
    build.archive(f"{home}/backups/letters.tar", f"{home}/Documents/letters")
    build.archive(f"{home}/backups/notes.tar", f"{home}/Documents/notes")
    build.archive(f"{home}/Downloads/holiday.tar", f"{home}/Pictures/holiday")
    build.link(f"{home}/current", f"projects/{names[1]}")


def _project(build: Builder, make: Maker, top: str, name: str) -> None:
    about, modules, table = PROJECTS[name]
    for path in (top, f"{top}/src", f"{top}/tests", f"{top}/data", f"{top}/build"):
        build.directory(path)
    version = f"0.{make.between(1, 9)}.{make.between(0, 9)}"
    build.text(f"{top}/README.md", f"# {name}", "", f"{name.capitalize()} is {about}.", "", "Status: draft", f"Version: {version}")
    build.text(f"{top}/CHANGELOG.md", f"## {version}", "- fix a timeout when the network is slow", "## 0.0.1", "- first release")
    build.text(f"{top}/settings.ini", "[main]", f"name = {name}", "debug = true", f"timeout = {make.between(5, 60)}", "retries = 3")
    for module in modules:
        lines = (f"def load_{module}(path):", "    # TODO: check the path", "    return open(path).read()")
        build.text(f"{top}/src/{module}.py", f'"""{module.capitalize()} of {name}."""', "", "import json", "", *lines)
        build.text(f"{top}/tests/test_{module}.py", f"from {module} import load_{module}", "", f"def test_{module}():", "    assert True")
    columns, subjects = TABLES[table]
    rows = [f"{make.pick(subjects)},{make.between(1, 900)},{make.between(1, 90)}" for _ in range(make.between(12, 30))]
    build.text(f"{top}/data/{table}.csv", columns, *rows)
    if make.chance(0.5):  # a build directory is empty or full
        build.binary(f"{top}/build/{name}.bin", make.between(1, 9) * MEGABYTE)


def _oddities(build: Builder, make: Maker, home: str) -> None:
    """What a real home holds too: hidden files, keys, things that are locked, empty, doubled or broken."""
    build.text(f"{home}/.bashrc", "export EDITOR=nano", "alias ll='ls -l'")
    build.directory(f"{home}/.ssh", "700")
    build.text(f"{home}/.ssh/id_ed25519.pub", f"ssh-ed25519 AAAA{make.digits(20)} laptop")
    build.text(f"{home}/.ssh/config", "Host backup", "  User backup", mode="600")
    build.directory(f"{home}/scratch")
    build.text(f"{home}/scratch/empty.txt")
    copy = make.some(POINTS, 3)
    build.text(f"{home}/scratch/draft.txt", *copy)
    build.text(f"{home}/scratch/draft_copy.txt", *copy)  # the same text twice
    build.text(f"{home}/scratch/Draft.txt", make.pick(POINTS))  # differs from draft.txt only by its capital letter
    build.text(f"{home}/scratch/words.txt", *sorted(make.pick(WORDS) for _ in range(20)))  # sorted, with repetitions
    build.text(f"{home}/scratch/locked.txt", make.pick(POINTS), mode="000")
    build.directory(f"{home}/scratch/frozen")
    build.text(f"{home}/scratch/frozen/results.csv", "run,score", *(f"{n},{make.between(40, 99)}" for n in range(1, 9)))
    build.fs.entries.update(f"{home}/scratch/frozen", mode="555")
    build.directory(f"{home}/scratch/unused")
    build.link(f"{home}/scratch/old_data", "../projects/gone")  # leads nowhere
    build.link(f"{home}/scratch/left", "right")  # lead to each other
    build.link(f"{home}/scratch/right", "left")
    build.link(f"{home}/team", "/srv/team")
    build.link(f"{home}/Desktop/expenses", f"{home}/Documents/expenses.csv")
