"""A conversation of the mix `broad`: some queries, each made by the generator of its kind, over one server or several."""

from collections.abc import Callable, Sequence
from functools import cache
from random import Random

import msgspec

from prove.episode import Limits
from prove.records import Conversation, Turn
from prove.servers.server import start_of
from prove.synthesis.broad import conditions, later, long, mending, options, parallel, picking, several
from prove.synthesis.broad import policy as rules
from prove.synthesis.broad.book import book, facts, with_a_book
from prove.synthesis.broad.scene import Off, Scene
from prove.synthesis.broad.speech import Voice
from prove.synthesis.certify import Rejected
from prove.synthesis.planning.wishes import PERSONAS

Generator = Callable[[Scene, Random], list[Turn]]

GENERATORS: dict[str, Generator] = {
    "across": several.across,
    "within": several.within,
    "best": picking.best,
    "each": picking.each,
    "condition": conditions.condition,
    "at_once": parallel.at_once,
    "later": later.again,
    "correction": mending.correction,
    "in_full": options.in_full,
    "long": long.pages,
    "policy": rules.under_rules,
}


class Shares(msgspec.Struct, frozen=True):
    """The weights of the kinds of query, and how the conversations are: each a parameter of the plan."""

    kinds: tuple[tuple[str, float], ...] = (
        ("across", 0.42),  # a fact of one server is used on another
        ("within", 0.07),  # a value is worked out from what the same server tells
        ("best", 0.08),  # the largest or smallest of a list
        ("each", 0.17),  # all that ...
        ("condition", 0.09),  # if ...
        ("at_once", 0.11),  # several things that need not wait for each other
        ("later", 0.05),  # time passes
        ("correction", 0.06),  # changes of mind
        ("in_full", 0.04),  # with optional arguments
        ("long", 0.03),  # long results
    )
    several: float = 0.9  # chance that a conversation is over two servers, or three
    third: float = 0.15  # ... of those, over three
    turns: tuple[float, ...] = (0.2, 0.5, 0.3)  # chances of one, two, three queries
    together: float = 0.8  # chance that calls that need not wait are sent in one message
    policy: float = 0.2  # chance that a conversation is under rules, where its server has any
    plain: float = 0.05  # chance of a conversation as the paper's machine makes them, as all are that end without a tool
    many_tools: float = 0.25  # chance of twenty to sixty candidate tools of other servers


def compose(name: str, home: str, seed: int, fate: Random, rng: Random, shares: Shares, patient: bool = True) -> Conversation:
    """One conversation, uncertified. `fate` decides what kinds of query there are, `rng` all else. Raises `Rejected`, if not
    `patient` only where no other kind of query is possible either.
    """
    page = rules.policy(home) if fate.random() < shares.policy else None
    wanted = fate.choices(range(1, len(shares.turns) + 1), shares.turns)[0]
    kinds = fate.choices([k for k, _ in shares.kinds], [w for _, w in shares.kinds], k=wanted)
    servers = (home, rules.DESK) if page else _servers(home, kinds, fate, shares)
    kinds = [_possible(kind, servers, fate, shares) for kind in kinds]
    scene = Scene(servers, seed, Voice(rng.choice(PERSONAS)))
    turns: list[Turn] = []
    for kind in ["policy", *kinds[:1]] if page else kinds:
        trial = scene.fork()
        more = _made(trial, kind, rng, patient)
        if len(trial.calls) + len(turns) + len(more) > Limits().assistant_turns:
            break
        trial.said(len(scene.calls))
        scene, turns = trial, turns + more
    if not turns or not turns[-1].calls:
        raise Rejected("too long", f"no room for {', '.join(kinds)}")
    made = Conversation(
        id=name,
        server=scene.servers[0],
        seed=seed,
        kind="multi_turn",
        persona=scene.voice.persona.description,
        today=start_of(seed).date().isoformat(),
        tools=sorted(scene.names.values()),
        distractors=[],
        stripped_enums=False,
        turns=turns,
        certificate=None,
        split="train",
        servers=list(scene.servers[1:]),
        policy=page.text if page else "",
        together=fate.random() < shares.together,
    )
    rules.check(made)
    return made


def _servers(home: str, kinds: Sequence[str], fate: Random, shares: Shares) -> tuple[str, ...]:
    """The home and, mostly, one or two servers of which facts are of use there, or that have what the kinds of query need."""
    roll, others = fate.random(), [s for s in with_a_book() if s != home]
    count = 0 if roll >= shares.several else 2 if roll < shares.several * shares.third else 1
    servers = [home]
    while len(servers) <= count:
        weights = [_links(home, s) ** 0.5 * 4 ** sum(_has((s,), kind) for kind in kinds) for s in others]
        servers.append(fate.choices(others, weights)[0])
        others.remove(servers[-1])
    return tuple(servers)


def _made(scene: Scene, kind: str, rng: Random, patient: bool) -> list[Turn]:
    """The turns of a query of that kind, or of another where it is not possible here and no more patience is left."""
    for name in (kind,) if patient else (kind, "condition", "at_once", "in_full"):
        try:
            turns = GENERATORS[name](scene, rng)
        except Off as off:
            why = f"{off}"
            continue
        if turns[-1].calls or kind == "policy":
            return turns
        why = "it has been read already"
    raise Rejected(kind, why)


def _possible(kind: str, servers: tuple[str, ...], fate: Random, shares: Shares) -> str:
    """That kind of query, or another where these servers have nothing for it."""
    if _has(servers, kind):
        return kind
    others = [(k, w) for k, w in shares.kinds if _has(servers, k)] or [(kind, 1)]
    return fate.choices([k for k, _ in others], [w for _, w in others])[0]


@cache
def _has(servers: tuple[str, ...], kind: str) -> bool:
    """Whether servers have what a kind of query needs."""
    lists = [it for s in servers for it in book(s).listings]
    told = [
        (facts(kinds, (other,)), other == deed.server)
        for s in servers
        for deed in book(s).deeds
        for kinds in deed.takes.values()
        for other in servers
    ]
    return {
        "best": any(it.best for it in lists),
        "long": any(it.newest for it in lists),
        "each": any(deed.each for s in servers for deed in book(s).deeds),
        "across": any(found and not same for found, same in told),
        "within": any(found and same for found, same in told),
    }.get(kind, True)


@cache
def _links(one: str, other: str) -> float:
    """How many facts of either are of use to deeds of the other; a little where none is, as there are conditions too."""
    pairs = ((deed, teller) for taker, teller in ((one, other), (other, one)) for deed in book(taker).deeds)
    return 0.2 + sum(len(facts(kinds, (teller,))) for deed, teller in pairs for kinds in deed.takes.values())
