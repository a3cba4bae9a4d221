"""Goals of a language model's own: it sees what a world offers, and says what somebody could want there, in its words.

What it proposes is grounded like any other goal: the planner looks for the reads that lead from the words to each record that they
name, makes the call on the live world, and rejects what cannot be done, changes nothing, or was not said. (arXiv:2606.03892, section
3.2: the sampling context of the query writer is what read-only discovery tools show of the live state.)
"""

from collections.abc import Iterator
from random import Random
from typing import Any

import msgspec

from prove.records import Answer, Conversation, Turn
from prove.servers.schema import fields_of
from prove.servers.server import Server
from prove.servers.session import Session
from prove.servers.tools import Tool
from prove.synthesis.ambiguity import Query
from prove.synthesis.certify import Rejected, heard
from prove.synthesis.language.phrases import phrasebook, value_at
from prove.synthesis.planning.planner import Draft, Named, Unplannable, resolve
from prove.synthesis.planning.values import table_of
from prove.synthesis.planning.wishes import PERSONAS, Persona, Wish
from prove.synthesis.teachers.llm import LLM
from prove.synthesis.teachers.scripted import Scripted

TRIES = 4  # proposals for one query before the conversation is given up
_SEEN = 1500  # characters of each discovery tool's result in the sampling context
_KINDS = 6  # discovery tools whose results are shown
_TURN = 400  # letters of a proposal and what is said to it, about: for an estimate

SYSTEM = """You are a person who writes to an assistant that acts for you in {server} software. Think of one thing that you want now.
- You know nothing of software: you name people and things as they are called in the data, never by an identifier.
- What you want must be possible with one of the tools, and all that the tool needs must be in your words or found through them.
- Say dates as "March 4", times as "March 4 at 3:30 pm", amounts as "$45.50". Put texts that must be kept to the letter in quotes.
- Write two or three sentences, with the reason why you want it.
Answer with one JSON object and nothing else:
{{"user": "what you write", "tool": "the tool that does it", "arguments": {{"name": "value as the tool takes it"}}}}"""


class Proposal(msgspec.Struct, frozen=True):
    """What the model would like to have done, and the words in which it asks for it."""

    user: str
    tool: str
    arguments: dict[str, Any] = {}


def propose(llm: LLM, server: str, seed: int, persona: Persona, rng: Random, queries: int, name: str) -> Conversation:
    """A conversation whose goals are the model's, uncertified. Raises `Rejected` where it proposes nothing that holds."""
    draft, turns = Draft(server, phrasebook(server), Session.open(server, seed)), list[Turn]()
    today = draft.live.today.isoformat()
    for _ in range(queries):
        draft, turn = _query(llm, draft, turns, persona, rng)
        turns.append(turn)
    return Conversation(
        id=name, server=server, seed=seed, kind="multi_turn", persona=persona.description, today=today,
        tools=sorted(type(draft.live).tools), distractors=[], stripped_enums=False, turns=turns, certificate=None, split="train",
        source=llm.model,
    )  # fmt: skip


def letters_of(server: str, seed: int, queries: int) -> tuple[int, int]:
    """(letters in, letters out) of a proposed conversation, about, if every proposal holds at once."""
    rng, draft = Random(0), Draft(server, phrasebook(server), Session.open(server, seed))
    asked = sum(len(message["content"]) for message in _prompt(draft, [], PERSONAS[0], rng))
    return queries * asked + _TURN * queries * (queries - 1) // 2, queries * _TURN


def _query(llm: LLM, draft: Draft, turns: list[Turn], persona: Persona, rng: Random) -> tuple[Draft, Turn]:
    """One query that the world can grant: asked for again, with the reason, where it cannot."""
    messages = _prompt(draft, turns, persona, rng)
    for tried in range(TRIES):
        text = llm.ask(messages)
        try:
            return _grounded(_parsed(text), draft, rng)
        except Rejected as rejected:
            if tried + 1 == TRIES:
                raise
            again = f"That cannot be done ({rejected}). Want something else, or say it so that it is clear. One JSON object."
            messages = [*messages, {"role": "assistant", "content": text}, {"role": "user", "content": again}]
    raise AssertionError("unreachable: the last fault is raised")


def _prompt(draft: Draft, turns: list[Turn], persona: Persona, rng: Random) -> list[dict[str, str]]:
    tools = "\n".join(f"- {t.name}({', '.join(t.input_schema['properties'])}): {t.description}" for t in type(draft.live).tools.values())
    said = "\n".join(line for t in turns for line in (f"You: {t.user}", f"Assistant: {t.reply}"))
    parts = [
        f"You are {persona.description}. Today is {draft.live.today.isoformat()}.",
        f"The tools of the assistant:\n{tools}",
        "Some of what there is:\n" + "\n".join(_context(draft, rng)),
        f"So far:\n{said}\nWant something that has not been done yet." if said else "",
    ]
    return [
        {"role": "system", "content": SYSTEM.format(server=draft.server.replace("_", " "))},
        {"role": "user", "content": "\n\n".join(p for p in parts if p)},
    ]


def _context(draft: Draft, rng: Random) -> Iterator[str]:
    """What read-only tools show that need no argument: the paper's live-state sampling."""
    reads = [t for t in type(draft.live).tools.values() if not t.marks.writes and not any(p.required for p in t.parameters)]
    trial = draft.session.fork()
    for tool in rng.sample(reads, min(_KINDS, len(reads))):
        result = trial.call(tool.name, {})
        if result.ok:
            yield f"{tool.name}: {result.text[:_SEEN]}"


def _parsed(text: str) -> Proposal:
    """The JSON object in an answer; thoughts before it and fences around it are left out."""
    answer = text.rsplit("</think>", 1)[-1]
    try:
        return msgspec.json.decode(answer[answer.find("{") : answer.rfind("}") + 1], type=Proposal)
    except msgspec.DecodeError as error:
        raise Rejected("no JSON", str(error)) from None


# --- grounding


def _grounded(proposal: Proposal, draft: Draft, rng: Random) -> tuple[Draft, Turn]:
    """The proposal done in the live world, with the look-ups that it takes. Raises `Rejected`."""
    tool = type(draft.live).tools.get(proposal.tool)
    if tool is None:
        raise Rejected("no such tool", proposal.tool)
    trial, query = draft.fork(), Query(proposal.user, draft.live, draft.book)
    for parameter in (p for p in tool.parameters if p.name in proposal.arguments):
        value = proposal.arguments[parameter.name]
        if parameter.id_type and table_of(type(draft.live), parameter.id_type):
            _find(trial, query, parameter.id_type, value, rng)
        elif not _said(value, parameter, draft, proposal.user):
            raise Rejected("not said", f"{parameter.name}={value!r} is not in the words")
    result = trial.call(tool.name, proposal.arguments)
    if not result.ok:
        raise Rejected("refused", result.value["error"]["message"])
    answers = _answers(tool, trial, result.value)
    if trial.outcome() == draft.outcome() and not answers:
        raise Rejected("nothing comes of it", tool.name)
    return trial, Turn(proposal.user, "complete", trial.calls[len(draft.calls) :], _reply(tool, proposal, trial, result.value), answers)


def _find(trial: Draft, query: Query, id_type: Any, key: Any, rng: Random) -> None:
    """Make the look-ups that lead from the words to a record. Raises `Rejected` where the words do not single it out."""
    record = trial.live.state[table_of(type(trial.live), id_type) or ""].find(key) if isinstance(key, str) else None
    if record is None:
        raise Rejected("no such record", repr(key))
    spans = [span for span, keys in query.named(id_type).items() if keys == {key}]
    if not spans and key not in trial.known:
        raise Rejected("not named", f"the words do not single out {key}")
    text = " ".join(query.words[start:end] for start, end in spans)
    fields = {f: getattr(record, f) for f in record.__struct_fields__ if _text_in(getattr(record, f), text)}
    try:
        resolve(trial, id_type, key, Named(text, fields, fields_of(type(record)), {}), rng)
    except Unplannable as why:
        raise Rejected("not found", str(why)) from None


def _text_in(value: Any, text: str) -> bool:
    return isinstance(value, str) and value != "" and value.casefold() in text


def _said(value: Any, parameter: Any, draft: Draft, words: str) -> bool:
    server: type[Server] = type(draft.live)
    values = value if isinstance(value, list) else [value]
    return all(v in draft.known or heard(v, parameter, server, draft.book, words, draft.live.today) for v in values)


def _answers(tool: Tool, trial: Draft, result: Any) -> list[Answer]:
    """What a reply will tell: the values that the domain's own reply names. A write tells of itself."""
    if tool.marks.writes:
        return []
    slots = trial.book.asks[tool.name][0].reply.slots()
    found = [Answer(trial.calls[-1].id, path, value_at(result, path)) for path in slots]
    return [a for a in found if a.value not in (None, "", [])]


def _reply(tool: Tool, proposal: Proposal, trial: Draft, result: Any) -> str:
    ask = trial.book.asks[tool.name][0]
    wish = Wish(ask, ask.say[0], proposal.arguments, {})
    return Scripted().reply(wish, tool, result, trial.book, trial.live)
