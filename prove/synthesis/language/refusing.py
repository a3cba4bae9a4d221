"""How a refusal is passed on: what it says is so, what it says to do, and how that is offered, accepted and declined."""

import re
from random import Random

from prove.servers.server import Server
from prove.servers.tools import Tool
from prove.synthesis.language.phrases import polished

_IMPERATIVES = re.compile(
    "add|book|buy|call|cancel|change|choose|clear|close|create|do|drive|end|free|give|go|leave|lock|log|make|move|open|pay|pick|place|"
    "put|remove|return|select|send|set|start|stop|switch|take|transfer|try|turn|undo|update|use|wait|withdraw"
)
_SPLIT = re.compile(r": |; |, and (?=only )")
_OFFERS = ("Shall I {advice}?", "Should I {advice}?", "Do you want me to {advice}?", "I can {advice}, if you like. Shall I?")
_CHOICES = ("You would have to {advice}. Would you like that?", "You could {advice}. Shall we do that?")
_CONSENTS = ("Yes, please.", "Yes, go ahead.", "Sure, do that.", "Ok, do that, then the rest.", "Please do.", "Go ahead, thanks.")
_DECLINES = ("No, leave it as it is, then.", "Never mind, then.", "No, thanks. I'll think about it.", "Hm, no. Leave it.", "Not now.")
_LEFT = ("All right, I have left everything as it was.", "Fine, nothing has been changed.", "Understood, I won't touch it.")
_SORRY = ("I'm sorry, that isn't possible: {why}.", "That can't be done, I'm afraid: {why}.", "I couldn't do that: {why}.")
_NOT_YET = ("That doesn't work yet: {why}.", "I tried, but {why}.", "Not as things stand: {why}.", "There is something in the way: {why}.")
_LEAVE = (
    "If something else has to be done first, go ahead and do it.",
    "Do whatever it takes to get it done.",
    "Clear whatever stands in the way, you need not ask me.",
    "Whatever has to happen before that, just do it.",
)


def advice(message: str, server: type[Server]) -> str:
    """What a refusal says to do ("cancel SCH-559 first"), or "" where it only says what is so."""
    clause = _SPLIT.split(message)[-1]
    first = clause.split(" ")[0]
    does = _IMPERATIVES.fullmatch(first) or first in {*server.tools, *(name.split("_")[0] for name in server.tools)}
    return clause if clause.endswith(" first") or (does and clause != message) else ""


def suggests(clause: str, tool: Tool) -> bool:
    """Whether advice speaks of a tool: by its name, or by what its name or its description calls what it does."""
    said = set(re.findall(r"\w+", clause.lower()))
    does = re.findall(r"[a-z]+", f"{tool.name} {tool.description.split('.')[0].lower()}")
    return tool.name in said or any(verb in said for verb in (does[0], does[len(tool.name.split("_"))]))


def passed_on(message: str, server: type[Server], names: dict[str, str], rng: Random) -> str:
    """What the assistant says where it gives up."""
    return polished(rng.choice(_SORRY).format(why=_plainly(message, server, names)))


def offered(message: str, server: type[Server], names: dict[str, str], rng: Random) -> str:
    """What the assistant says where it asks first: why it can't be done as it is, and what would help."""
    clause = advice(message, server)
    why = message[: len(message) - len(clause)].rstrip(" :;,") or message
    what = _plainly(clause, server, names, begins=False)
    several = "," in clause or " or " in clause
    able = not several and any(suggests(clause, tool) for tool in server.tools.values() if tool.marks.writes)
    offer = rng.choice(_OFFERS if able else _CHOICES)
    return polished(f"{rng.choice(_NOT_YET).format(why=_plainly(why, server, names))} {offer.format(advice=what)}")


def consent(rng: Random) -> str:
    return rng.choice(_CONSENTS)


def decline(rng: Random) -> str:
    return rng.choice(_DECLINES)


def left(rng: Random) -> str:
    """What the assistant says once the user has declined."""
    return rng.choice(_LEFT)


def leave(rng: Random) -> str:
    """What a user says who does not want to be asked."""
    return rng.choice(_LEAVE)


def _plainly(text: str, server: type[Server], names: dict[str, str], begins: bool = True) -> str:
    """A refusal's words as one says them to a user: records by the user's own names for them, amounts in dollars, tools by what
    they do."""
    for key, name in names.items():
        text = _named(text, key, _to_you(name), begins)
    text = re.sub(r"(?<![\w.])(\d+) cents\b", lambda m: f"${int(m[1]) / 100:,.2f}".removesuffix(".00"), text)
    for tool in sorted(server.tools, key=len, reverse=True):
        if "_" in tool:
            verb, _, rest = tool.partition("_")
            text = re.sub(rf"\b{tool}\b", f"{verb} the {rest.replace('_', ' ')}", text)
    text = re.sub(r"\bthe user's\b", "your", text)
    for verb, said in (("is", "are"), ("has", "have"), ("does", "do")):
        text = re.sub(rf"\bthe user {verb}\b", f"you {said}", text)
    text = re.sub(r"\bthe user (\w+)s\b", r"you \1", text)
    return re.sub(r"(?<![\w/@.-])([a-z]+)_([a-z]+)(?:_([a-z]+))?(?!\.\w|[\w/@-])", lambda m: " ".join(filter(None, m.groups())), text)


def _named(text: str, key: str, name: str, begins: bool) -> str:
    """The text with a name for a key; a noun before the key goes where the name says it ("card CRD-7", "the card that ..."), and
    where the text begins with it."""
    noun = r"(?:^\w+ |\b(\w+) )?" if begins else r"(?:\b(\w+) )?"

    def said(m: re.Match[str]) -> str:
        keeps = m[1] is not None and not re.search(rf"\b{m[1]}\b", name)
        return f"{m[1]} {name}" if keeps else name

    return re.sub(rf"{noun}(?<!\w){re.escape(key)}(?![\w-])", said, text)


def _to_you(words: str) -> str:
    """What a user says of themselves, as it is said back to them."""
    for mine, yours in (("my", "your"), ("our", "your"), ("I", "you"), ("me", "you"), ("we", "you")):
        words = re.sub(rf"\b{mine}\b(?![^\"]*\"$)", yours, words)
    return words
