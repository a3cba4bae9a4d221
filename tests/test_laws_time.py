"""A world's past is what its rules would have made, and time passes the same however it is cut."""

import re
from datetime import date, timedelta
from itertools import pairwise
from pathlib import Path
from random import Random

import pytest

from prove.servers.catalog import catalogue, heldout, load, packages, world_of
from prove.servers.schema import bare, fields_of
from prove.servers.session import Session
from prove.synthesis.planning.values import NoValue
from prove.synthesis.planning.wander import arguments_for, curated, wander

SERVERS, MEASURED = list(packages()), [*catalogue(), *heldout()]
DAYS, SEEDS = 60, 20
NEWEST_FIRST = re.compile(r"\b(newest|latest)( day)? first|last changed first")


def lived(server, seed):
    """A session in which something has been set up to happen."""
    session = Session.open(server, seed)
    list(wander(session, server, 25, Random(f"lived:{server}:{seed}"), mistakes=0))
    return session


def splits(rng):
    """Sixty days cut at random places, some of them close together, in whole seconds."""
    total = DAYS * 86_400
    cuts = sorted({0, total, *(rng.randrange(total) for _ in range(rng.randint(1, 30))), 3600, 3601})
    return [later - earlier for earlier, later in pairwise(cuts)]


@pytest.mark.parametrize("server", SERVERS)
def test_time_passes_the_same_at_once_and_in_pieces(server):
    for seed in range(SEEDS):
        whole = lived(server, seed)
        pieces = whole.fork()
        whole.advance(days=DAYS)
        for seconds in splits(Random(f"splits:{server}:{seed}")):
            pieces.advance(seconds=seconds)
        assert pieces.diff(whole) == {}, f"seed {seed}"
        assert pieces.digest() == whole.digest(), f"seed {seed}"
        whole.servers[server].elapse()
        assert pieces.digest() == whole.digest(), "what has happened happens again"


@pytest.mark.parametrize("server", MEASURED)
def test_a_past_is_one_that_the_rules_have_made(server):
    domain = load(server)
    for seed in range(100 if server in catalogue() else 20):  # the past of the others is lived, which takes ten times as long
        live = Session.open(server, seed).servers[server]
        problems = [*domain.invariants(live), *domain.past(live)]
        assert not problems, f"seed {seed}: {problems[:5]}"
        if seed >= 4:
            world_of.cache_clear()


@pytest.mark.parametrize("server", MEASURED)
def test_what_happens_from_there_on_is_such_a_past_too(server):
    domain = load(server)
    for seed in range(6):
        session = Session.open(server, seed)
        for number, _ in enumerate(wander(session, server, 200, Random(f"past:{server}:{seed}"))):
            if number % 40 == 0:
                session.advance(days=3)
        problems = [*domain.invariants(session.servers[server]), *domain.past(session.servers[server])]
        assert not problems, f"seed {seed}: {problems[:5]}"


def listed(server, calls=250):
    """(tool, items, live server) of every page that a wanderer was shown."""
    session = Session.open(server, 3)
    for visit in wander(session, server, calls, Random(f"lists:{server}"), mistakes=0):
        items = visit.result.value.get("items") if visit.result.ok else None
        if items is not None:
            yield visit.tool, items, session.servers[server]


def moments_of(record):
    return [name for name, hint in fields_of(record).items() if isinstance(bare(hint), type) and issubclass(bare(hint), date)]


def order_kept(live, tool, items):
    """The fields by which a page is newest first, the last made first among equals."""
    home = live.homes.get(tool.subject)
    position = {key: at for at, key in enumerate(live.state[home].keys())} if home else {}
    key = next(iter(items[0]))
    rows = [live.state[home].find(i[key]) if home else None for i in items]
    shape = type(rows[0]) if rows[0] is not None else None
    kept = set()
    for field in moments_of(shape) if shape else ():
        found = [(getattr(r, field), position[i[key]]) for r, i in zip(rows, items, strict=True)]
        if all(v[0] is not None for v in found) and found == sorted(found, reverse=True):
            kept.add(field)
    return kept, moments_of(shape) if shape else []


@pytest.mark.parametrize("server", SERVERS)
def test_newest_first_is_newest_first_and_the_last_made_first_among_equals(server):
    lists = [t for t in load(server).server.tools.values() if "items" in fields_of(t.returns)]
    promised = {t.name for t in lists if NEWEST_FIRST.search(t.description)}
    by = {}
    for tool, items, live in listed(server, 400 if promised else 0):
        if tool.name in promised and len(items) > 1:
            kept, possible = order_kept(live, tool, items)
            if possible:  # what a list is ordered by may be worked out: its domain's own tests see to that
                by[tool.name] = by.get(tool.name, set(possible)) & kept
                assert by[tool.name], f"{tool.name} is not newest first by any of {possible}: {items[:6]}"


@pytest.mark.parametrize("server", SERVERS)
def test_whatever_a_list_counts_can_be_reached(server):
    session, values = Session.open(server, 0), curated(server)
    for tool in session.servers[server].tools.values():
        names = {p.name for p in tool.parameters}
        if tool.marks.writes or "total" not in fields_of(tool.returns):
            continue
        required, most = {p.name for p in tool.parameters if p.required}, {"limit": 50} if "limit" in names else {}
        for attempt in range(10):
            try:
                arguments = arguments_for(session, server, tool, Random(f"{tool.name}{attempt}"), values)
            except NoValue:
                continue
            result = session.call(tool.name, {k: v for k, v in arguments.items() if k in required} | most)
            shown, total = (len(result.value["items"]), result.value["total"]) if result.ok else (0, 0)
            assert shown == total or "offset" in names, f"{tool.name} shows {shown} of {total}, and no tool the rest"


@pytest.mark.parametrize("server", SERVERS)
def test_a_domain_has_its_rooms_and_none_is_too_long(server):
    home = Path(load(server).package.__path__[0])
    assert (home / "records.py").exists()
    for path in home.glob("*.py"):
        lines = len(path.read_text().splitlines())
        assert lines <= (500 if server == "filesystem" else 400), f"{path.name}: {lines} lines"


def test_time_does_not_run_backwards():
    with pytest.raises(ValueError, match="time cannot run backwards"):
        Session.open("banking", 0).advance(days=-1)


def test_servers_in_one_session_live_in_one_time():
    together, apart = Session.open(["banking", "payments"], 3), Session.open(["banking", "payments"], 3)
    together.advance(days=40)
    for _ in range(40):
        apart.advance(days=1)
    assert together.digest() == apart.digest()
    assert together.clock.now - together.worlds["banking"].start == timedelta(days=40)
