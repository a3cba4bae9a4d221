"""Clauses become what people say: why they ask, then what, in one of many frames; and what the assistant says afterwards."""

from collections.abc import Sequence
from random import Random

from prove.synthesis.broad.book import book
from prove.synthesis.language.phrases import polished

_ASKING = (
    "{clause}.", "{clause}.", "{clause}, please.", "please {clause}.", "could you {clause}?", "can you {clause} for me?",
    "would you {clause}?", "I'd like you to {clause}.", "I need you to {clause}.", "it would help me to have you {clause}.",
    "do me a favour and {clause}.", "what I need now is this: {clause}.", "go ahead and {clause}.", "time to {clause}.",
)  # fmt: skip
_AFTERWARDS = (
    "then {clause}.", "after that, {clause}.", "next, {clause}.", "and {clause} as well, please.", "also, {clause}.",
    "while you're at it, {clause}.", "once that's done, {clause}.",
)  # fmt: skip
_LOOKING = (
    "look up {what}", "check {what}", "find out {what}", "have a look at {what}", "tell me {what}", "see what {what} is",
)  # fmt: skip
_ENDINGS = (
    "Thanks!", "Thank you.", "No rush.", "That would be a great help.", "I'm about to leave, so keep it short.", "That's all for now.",
    "Just tell me when it's done.", "Let me know how it goes.", "I'd rather not do it by hand.", "It has waited long enough.",
)  # fmt: skip
_AFTER_QUESTIONS = 6  # of these can be said after a question too
_DONE = ("{did}.", "done: {did}.", "I've {did}.", "that's done: I've {did}.", "all set, I've {did}.")


def asked(clauses: Sequence[str], rng: Random, server: str = "", aside: float = 0.65) -> str:
    """A request for things to be done: mostly with the reason before it, as people who use that server have one."""
    first, *others = clauses
    frame = rng.choice(_ASKING)
    said = frame.format(clause=first)
    if "?" in first or first.startswith(("if ", "unless ")):
        said = f"{first}."
    following = [rng.choice(_AFTERWARDS).format(clause=clause) for clause in others]
    return around(" ".join(map(sentence, [said, *following])), rng, server, aside)


def around(text: str, rng: Random, server: str = "", aside: float = 0.65, question: bool = False) -> str:
    """A request with a reason before it, or a word after it, or neither."""
    reasons = book(server).why if server else ()
    before = rng.choice(reasons) if reasons and rng.random() < aside else ""
    after = rng.choice(_ENDINGS[:_AFTER_QUESTIONS] if question else _ENDINGS) if rng.random() < 0.22 else ""
    return polished(" ".join(part for part in (before, sentence(text), after) if part))


def sentence(text: str) -> str:
    """With a capital and an end."""
    text = text.strip()
    ended = text if text[-1] in ".?!" or text[-2:] in ('."', '?"', '!"') else f"{text}."
    return ended[0].upper() + ended[1:]


def looking(what: str, rng: Random) -> str:
    """A clause that asks for a fact."""
    return rng.choice(_LOOKING[:-1]).format(what=what)


def done(deeds: Sequence[str], rng: Random) -> str:
    """What the assistant says of deeds, in the past."""
    frame = rng.choice(_DONE[1:])
    return polished(sentence(frame.format(did=enumerated(deeds))))


def enumerated(parts: Sequence[str]) -> str:
    """Parts of a sentence as an enumeration."""
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"
