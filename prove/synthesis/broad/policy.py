"""Rules that an assistant has to keep, and conversations in which they matter.

A server owner writes them in `policy.toml`: an `intro`, and rules of these kinds, each with the `text` that the assistant reads and
the `tools` that it is about:

- "confirm": the user has to agree before it is done
- "limit": an `argument` may not be `over` a bound; the assistant declines and says `why`, or hands over with a `matter`
- "fact": what the tool `read` tells at `path` may not be `over` a bound; that is read first, and then handed over
"""

import tomllib
from functools import cache, partial
from pathlib import Path
from random import Random
from typing import Literal

import msgspec

from prove.records import Conversation, Turn, Working
from prove.servers.catalog import catalogue, load, toolbox
from prove.synthesis.broad.book import Deed, book, parameter, tool_of
from prove.synthesis.broad.filling import Filled, Said, fill
from prove.synthesis.broad.naming import yours
from prove.synthesis.broad.nouns import Known, answered
from prove.synthesis.broad.scene import Off, Scene
from prove.synthesis.broad.several import perform
from prove.synthesis.broad.speech import done, form, sentence
from prove.synthesis.certify import Rejected
from prove.synthesis.language.phrases import polished, value_at
from prove.synthesis.language.saying import say

DESK = "front_desk"
_SURE = (
    "You'd like me to {what}. That can't be undone: shall I go ahead?", "Just to be sure: I'm about to {what}. Is that right?",
    "Before I do that: you want me to {what}, for good. Yes?", "May I {what}, then? I have to ask first.",
)  # fmt: skip
_LEFT = ("All right, I've left everything as it is.", "Fine, nothing has been changed.", "Understood, I haven't done anything.")
_DECLINED = ("I'm sorry, {why}. Would you like me to do less?", "{why}, so I can't do that. What would you like instead?")
_HANDED = ("A colleague has to decide that, so I've handed it over.", "That isn't mine to decide: a person will get back to you.",
           "I've handed this over to a person, who will look at it.")  # fmt: skip
_TRIES = 16


class Rule(msgspec.Struct, frozen=True):
    """One rule: see the module."""

    kind: Literal["confirm", "limit", "fact"]
    text: str
    tools: list[str]
    argument: str = ""
    over: int = 0
    why: str = ""
    matter: str = ""
    read: str = ""
    path: str = ""


class Policy(msgspec.Struct, frozen=True):
    """A page of rules."""

    intro: str
    rule: list[Rule]

    @property
    def text(self) -> str:
        """What the assistant reads."""
        return "\n".join([self.intro, "", "Rules:", *(f"{i}. {rule.text}" for i, rule in enumerate(self.rule, 1))])


@cache
def policy(server: str) -> Policy | None:
    """A server's rules; None where it has none. Raises LookupError for a broken page."""
    path = Path(load(server).package.__path__[0]) / "policy.toml"
    if not path.exists():
        return None
    try:
        it = msgspec.convert(tomllib.loads(path.read_text(encoding="utf-8")), Policy)
    except (tomllib.TOMLDecodeError, msgspec.ValidationError) as error:
        raise LookupError(f"{path}: {error}") from None
    tools = load(server).server.tools
    for rule in it.rule:
        names = [*rule.tools, *([rule.read] if rule.read else [])]
        if unknown := [name for name in names if name not in tools]:
            raise LookupError(f"{path}: there is no tool {unknown[0]!r}")
        if rule.kind != "confirm" and not (rule.why or rule.matter):
            raise LookupError(f"{path}: {rule.text!r} needs a `why`, to decline, or a `matter`, to hand over")
    return it


@cache
def with_rules() -> tuple[str, ...]:
    """The servers of the library that have a policy."""
    return tuple(server for server in catalogue() if policy(server))


def check(conversation: Conversation) -> None:
    """Raise `Rejected` where the ground truth breaks a rule that it is to keep."""
    page = policy(conversation.server)
    if not conversation.policy or page is None:
        return
    tools = toolbox(conversation.homes)
    for i, turn in enumerate(conversation.turns):
        for call in turn.calls:
            home, tool = tools[call.name]
            for rule in page.rule if home == conversation.server else ():
                if tool.name not in rule.tools:
                    continue
                unasked = rule.kind == "confirm" and not (i and conversation.turns[i - 1].held)
                if unasked or (rule.kind == "limit" and call.arguments.get(rule.argument, 0) > rule.over):
                    raise Rejected("breaks a rule", f"{rule.text} {call.name}({call.arguments})")


# --- conversations


def under_rules(scene: Scene, rng: Random) -> list[Turn]:
    """A query to which one of the rules applies: two or three turns, or one in which it is handed over."""
    page = policy(scene.servers[0])
    assert page is not None
    plays = {"confirm": _confirmed, "limit": _limited, "fact": _looked_up}
    rules = (rng.choice(page.rule) for _ in range(_TRIES))
    return scene.first((partial(plays[rule.kind], rule=rule, page=page, rng=rng) for rule in rules), "no rule applies here")


def _deed(scene: Scene, rule: Rule, rng: Random) -> Deed:
    deeds = [d for d in book(scene.servers[0]).deeds if d.tool in rule.tools]
    if not deeds:
        raise Off(f"nobody asks for {', '.join(rule.tools)}")
    return rng.choice(deeds)


def _confirmed(scene: Scene, rule: Rule, page: Policy, rng: Random) -> list[Turn]:
    """The assistant asks, and the user says yes, or no."""
    deed = _deed(scene, rule, rng)
    filled = fill(scene, deed, rng, rank=0.0)
    scene.changes(deed.server, deed.tool, filled.arguments)
    if _forbidden(scene, page, filled):
        raise Off("another rule forbids it anyway")
    first = _asks(scene, page, filled, scene.voice.wants([filled.text], [deed], rng), rng)
    if rng.random() < 0.35:
        return [first, Turn(form("no", rng), "complete", [], rng.choice(_LEFT))]
    before = len(scene.calls)
    _, workings = perform(scene, filled, filled.find(scene, rng))
    reply = done([filled.told(deed.did)], rng)
    return [first, Turn(form("yes", rng), "complete", scene.calls[before:], reply, workings=workings)]


def _asks(scene: Scene, page: Policy, filled: Filled, user: str, rng: Random) -> Turn:
    """The turn in which the assistant asks for leave; what another rule wants to be looked at first is looked at."""
    question = polished(rng.choice(_SURE).format(what=yours(filled.told(filled.template))))
    rule = next((r for r in page.rule if r.kind == "fact" and filled.it.tool in r.tools), None)
    if rule is None:
        return Turn(user, "complete", [], question, held=True)
    before, known = len(scene.calls), _known(scene, rule, filled)
    place, workings = known.read(scene, known.find(scene, rng))
    reply = polished(f"{sentence(known.told(scene))} {question}")
    return Turn(user, "complete", scene.calls[before:], reply, [answered(place, known.value)], workings=workings, held=True)


def _forbidden(scene: Scene, page: Policy, filled: Filled) -> bool:
    """Whether a rule stands in the way of a deed."""
    for rule in (r for r in page.rule if filled.it.tool in r.tools):
        if rule.kind == "limit" and filled.arguments.get(rule.argument, 0) > rule.over:
            return True
        if rule.kind == "fact" and _known(scene, rule, filled).value > rule.over:
            return True
    return False


def _known(scene: Scene, rule: Rule, filled: Filled) -> Known:
    """What a rule wants to be looked at, for the record that a deed is about. Raises `Off`."""
    fact = next((f for f in book(filled.it.server).facts if (f.tool, f.path) == (rule.read, rule.path)), None)
    if fact is None:
        raise Off(f"nobody speaks of {rule.path}")
    said = {p.name: filled.said[p.name] for p in tool_of(fact).parameters if p.required}
    about = Filled(fact, fact.say[0], said)
    return Known(about, value_at(scene.would(fact.server, fact.tool, about.arguments), fact.path))


def _limited(scene: Scene, rule: Rule, page: Policy, rng: Random) -> list[Turn]:
    """Too much is asked for: the assistant declines and the user takes less, or a person has to decide."""
    deed = _deed(scene, rule, rng)
    much, less = _amounts(deed, rule, rng)
    filled = fill(scene, deed, rng, {rule.argument: less}, rank=0.0)
    scene.changes(deed.server, deed.tool, filled.arguments)
    too_much = msgspec.structs.replace(filled, said={**filled.said, rule.argument: much})
    user = scene.voice.wants([too_much.text], [deed], rng)
    before = len(scene.calls)
    if rule.matter:
        scene.do(DESK, "hand_over", {"matter": rule.matter})
        return [Turn(user, "complete", scene.calls[before:], rng.choice(_HANDED))]
    declined = Turn(user, "complete", [], polished(sentence(rng.choice(_DECLINED).format(why=rule.why))), held=True)
    _, workings = perform(scene, filled, filled.find(scene, rng))
    words = polished(form("less", rng, n=less.words))
    return [declined, Turn(words, "complete", scene.calls[before:], done([filled.told(deed.did)], rng), workings=workings)]


def _amounts(deed: Deed, rule: Rule, rng: Random) -> tuple[Said, Said]:
    """A value over the bound, and one that is allowed, in words."""
    hint = parameter(deed, rule.argument).hint
    fine = max(1, int(rule.over * rng.choice((0.5, 0.8, 1.0))))
    step = 100 if rule.over >= 1000 else 1
    values = (int(rule.over * rng.choice((1.2, 1.5, 1.8)) // step * step) + (step if step == 1 else 0), fine // step * step or fine)
    much, less = (Said(v, say(hint, v, None, None), say(hint, v, None, None)) for v in values)  # type: ignore[arg-type]
    return much, less


def _looked_up(scene: Scene, rule: Rule, page: Policy, rng: Random) -> list[Turn]:
    """What the rule wants to be looked at forbids it: a person has to decide."""
    deed = _deed(scene, rule, rng)
    filled = fill(scene, deed, rng, rank=0.0)
    known = _known(scene, rule, filled)
    if not known.value > rule.over:
        raise Off("the rule does not apply to that one")
    before = len(scene.calls)
    place, workings = known.read(scene, known.find(scene, rng))
    call = scene.do(DESK, "hand_over", {"matter": rule.matter})
    working = Working("over", [place], True, [rule.over], calls=[call])
    reply = polished(f"{sentence(known.told(scene))} {rng.choice(_HANDED)}")
    user = scene.voice.wants([filled.text], [deed], rng)
    return [Turn(user, "complete", scene.calls[before:], reply, [answered(place, known.value)], workings=[*workings, working])]
