"""The LLM teacher (arXiv:2606.03892, section 3.3): a language model finds the words for a conversation that is planned.

The plan, the calls and their results are those of the scripted conversation, turn by turn; the model sees them, and says anew what
the user and the assistant say. What it writes is held to the same certification, and asked for again, with the reason, where it
does not hold. Where it proposes the goals too, see `prove.synthesis.teachers.llm_goals`.
"""

import re
from collections import Counter
from collections.abc import Sequence
from itertools import zip_longest
from random import Random
from typing import Any

import msgspec

from prove.records import Conversation, Turn
from prove.run import RunError
from prove.servers.catalog import load
from prove.servers.server import Server
from prove.synthesis.certify import Rejected, certify, home, provenance, replay_results
from prove.synthesis.language.saying import NUMBERS
from prove.synthesis.language.wording import telling_names
from prove.synthesis.planning.wishes import Persona, Wish
from prove.synthesis.replies import tell_truth
from prove.synthesis.teachers import llm_goals
from prove.synthesis.teachers.llm import LLM
from prove.synthesis.teachers.scripted import Scripted

ASKS = 3  # times that one turn is asked for before its conversation is given up
HOPELESS = 20  # conversations in a row that were given up: then the model will not do
QUERIES = 2  # that a proposed conversation has
SHOWN = 700  # characters of each result that the model sees
LETTERS_A_TOKEN = 4.0  # of English, about: for an estimate before anything is paid for

_SYSTEM = """You write realistic conversations between a person and an assistant that acts for that person in {server} software.
You get one turn as a draft: what the person says, and what the assistant answers once it has acted. Say the same in natural,
varied words of your own, as this person would.
- Keep every fact: each name, amount, number, date and time of the draft, the way it is written there.
- Where results are shown, the assistant's answer rests on them and says nothing else.
- Add no fact, no name and no number. What the draft leaves open stays open.
- The phrases that are listed must appear word for word in what the person says.
- The person knows nothing of software: no function names, no parameter names, no identifiers that the draft does not have.
- Where the assistant's draft asks something, it still asks exactly that.
Answer with one JSON object and nothing else: {{"user": "...", "assistant": "..."}}"""


class Written(msgspec.Struct, frozen=True):
    """What the model writes for one turn."""

    user: str
    assistant: str


class Unspoken(Rejected):
    """The model found no words that hold; another plan would be paid for anew, so that the item is given up."""


class Noting(Scripted):
    """Speaks as `Scripted` does, and remembers the phrases that name records, texts and days."""

    def __init__(self) -> None:
        super().__init__()
        self.said: dict[str, list[str]] = {}  # a text -> the phrases in it

    def request(self, wishes: list[Wish], persona: Persona, rng: Random, later: bool = False) -> str:
        return self._note(super().request(wishes, persona, rng, later), [(w, w.arguments.keys() - set(w.held_back)) for w in wishes])

    def supply(self, wish: Wish, persona: Persona, rng: Random) -> str:
        return self._note(super().supply(wish, persona, rng), [(wish, set(wish.held_back))])

    def _note(self, text: str, told: list[tuple[Wish, set[str]]]) -> str:
        # texts, dates and names only: an amount or a count may be said in more than one way
        phrases = [w.spoken[p] for w, parameters in told for p in sorted(parameters) if isinstance(w.arguments[p], str)]
        self.said[text] = [p for p in phrases if p.casefold() in text.casefold()]
        return text

    def phrases(self, turn: Turn) -> list[str]:
        """The phrases that must stay in what the user says in a turn."""
        return list(dict.fromkeys(p for text, phrases in self.said.items() if text in turn.user for p in phrases))


class Estimate(msgspec.Struct, frozen=True):
    """What a run will ask for, about, judged by a few conversations: answers, tokens in and out, and what they cost at the prices."""

    answers: int
    tokens_in: int
    tokens_out: int
    cost: float | None

    def __str__(self) -> str:
        cost = "" if self.cost is None else f", cost {self.cost:.2f}"
        return f"about {self.answers:,} answers, {self.tokens_in:,} tokens in, {self.tokens_out:,} out{cost}"


class LLMTeacher:
    """`reworded(record, noting)` is a certified record in the model's words. Raises `Unspoken`, or `RunError` without an endpoint.

    Of a share `goals` of the conversations it proposes what is wanted, too.
    """

    def __init__(self, llm: LLM, goals: float = 0.0) -> None:
        self.llm, self.goals = llm, goals
        self.given_up: Counter[str] = Counter()  # since the last success, by reason

    @property
    def settings(self) -> dict[str, Any]:
        """What the words depend on, beside the plan."""
        more = {"goals": self.goals, "goals_prompt": llm_goals.SYSTEM} if self.goals else {}
        return {"model": self.llm.model, "sampling": self.llm.sampling, "asks": ASKS, "prompt": _SYSTEM} | more

    def estimate(self, records: Sequence[Conversation], n: int) -> Estimate:
        """What `n` conversations like these will take, of which it proposes its share and words the others, if every answer holds at
        once. Raises LookupError for no record."""
        if not records:
            raise LookupError("there is no conversation to judge the cost by")
        letters_in = letters_out = turns = 0.0
        for record in records:
            results = replay_results(record)
            for i, turn in enumerate(record.turns):
                letters_in += (1 - self.goals) * sum(len(m["content"]) for m in _prompt(record, record.turns[:i], turn, [], results))
                letters_out += (1 - self.goals) * (len(turn.user) + len(turn.reply) + 30)
                turns += 1 - self.goals
            if self.goals:
                proposed = llm_goals.letters_of(record.server, record.seed, QUERIES)
                letters_in, letters_out = letters_in + self.goals * proposed[0], letters_out + self.goals * proposed[1]
                turns += self.goals * QUERIES
        scale = n / len(records)
        tokens_in, tokens_out = (round(scale * letters / LETTERS_A_TOKEN) for letters in (letters_in, letters_out))
        prices = self.llm.usage.prices
        cost = (tokens_in * prices[0] + tokens_out * prices[1]) / 1e6 if prices else None
        return Estimate(round(scale * turns), tokens_in, tokens_out, cost)

    def reworded(self, record: Conversation, noting: Noting) -> Conversation:
        """The record with every turn said anew, certified again; `noting` is the teacher whose words it has now."""
        results = replay_results(record)
        turns: list[Turn] = []
        try:
            for planned, following in zip_longest(record.turns, record.turns[1:]):
                asks = following and not planned.calls and planned.level != "complete"  # the answer is not to be said before
                held_back = noting.phrases(following) if asks else []
                turns.append(self._turn(record, turns, planned, noting.phrases(planned), held_back, results))
            record = certify(msgspec.structs.replace(record, turns=turns, source=self.llm.model))
            tell_truth(record, home(record))
        except Rejected as rejected:
            self._give_up(rejected.reason)
            raise Unspoken(f"teacher: {rejected.reason}", str(rejected)) from None
        self.given_up.clear()
        return record

    def _give_up(self, reason: str) -> None:
        self.given_up[reason] += 1
        if self.given_up.total() >= HOPELESS:
            why = ", ".join(f"{r} {n}" for r, n in self.given_up.most_common())
            raise RunError(f"the last {HOPELESS} conversations that {self.llm.model} worded were all given up ({why}): try another model")

    def _turn(
        self, record: Conversation, before: list[Turn], planned: Turn, phrases: list[str], held_back: list[str], results: dict[str, Any]
    ) -> Turn:
        """One turn in the model's words. Raises `Rejected` with the last fault if none of them hold."""
        messages = _prompt(record, before, planned, phrases, results)
        for asked in range(ASKS):
            text = self.llm.ask(messages)
            try:
                written = _parsed(text)
                turn = msgspec.structs.replace(planned, user=written.user.strip(), reply=written.assistant.strip())
                _check_words([load(home).server for home in record.homes], planned, turn, phrases, held_back)
                _check_origins(record, before, planned, turn, results)
                return turn
            except Rejected as rejected:
                if asked + 1 == ASKS:
                    raise
                again = f"That cannot be used ({rejected}). Write both again, as one JSON object."
                messages = [*messages, {"role": "assistant", "content": text}, {"role": "user", "content": again}]
        raise AssertionError("unreachable: the last fault is raised")


def _prompt(record: Conversation, before: list[Turn], planned: Turn, phrases: list[str], results: dict[str, Any]) -> list[dict[str, str]]:
    so_far = [line for t in before for line in (f"Person: {t.user}", f"Assistant: {t.reply}")]
    found = [f"- {c.name}: {_cut(msgspec.json.encode(results[c.id]).decode())}" for c in planned.calls if c.id in results]
    parts = [
        f"The person is {record.persona}. Today is {record.today}.",
        "So far:\n" + "\n".join(so_far) if so_far else "The conversation begins.",
        "What the assistant finds out in this turn:\n" + "\n".join(found) if found else "",
        f"Draft of the next turn:\nPerson: {planned.user}\nAssistant: {planned.reply}",
        "Phrases to keep word for word:\n" + "\n".join(f"- {p}" for p in phrases) if phrases else "",
    ]
    system = _SYSTEM.format(server=" and ".join(record.homes).replace("_", " "))
    return [{"role": "system", "content": system}, {"role": "user", "content": "\n\n".join(p for p in parts if p)}]


def _cut(text: str) -> str:
    return text if len(text) <= SHOWN else f"{text[:SHOWN]} ... ({len(text)} characters in all)"


def _parsed(text: str) -> Written:
    """The JSON object in an answer; thoughts before it and fences around it are left out."""
    answer = text.rsplit("</think>", 1)[-1]
    try:
        return msgspec.json.decode(answer[answer.find("{") : answer.rfind("}") + 1], type=Written)
    except msgspec.DecodeError as error:
        raise Rejected("no JSON", str(error)) from None


# --- what the words must keep


def _check_words(servers: list[type[Server]], planned: Turn, turn: Turn, phrases: list[str], held_back: list[str]) -> None:
    """Hold the words against the draft alone. Raises `Rejected` for the first fault."""
    for draft, said, who in ((planned.user, turn.user, "the person"), (planned.reply, turn.reply, "the assistant")):
        if not said or len(said) > 3 * len(draft) + 300:
            raise Rejected("too long" if said else "empty", f"{who} says {len(said)} characters")
        if named := sorted(name for server in servers for name in telling_names(server) if re.search(rf"\b{name}\b", said)):
            raise Rejected("names a tool", f"{who} says {named[0]}")
        if foreign := _numbers(said) - _numbers(draft, words=True):
            raise Rejected("number from nowhere", f"{who} says {min(foreign):g}, which the draft does not")
    if told := [p for p in held_back if p.casefold() in turn.user.casefold() and p.casefold() not in planned.user.casefold()]:
        raise Rejected("tells too much", f"the person already says {told[0]!r}, for which the assistant is to ask")
    if missing := [p for p in phrases if p.casefold() not in turn.user.casefold()]:
        raise Rejected("phrase left out", f"the person does not say {missing[0]!r}")
    if lost := _numbers(planned.user) - _numbers(turn.user, words=True):  # of a wish that fails, no call would miss it
        raise Rejected("number left out", f"the person does not say {min(lost):g}")
    if lost := _numbers(planned.reply) - _numbers(turn.reply, words=True):
        raise Rejected("answer left out", f"the assistant does not say {min(lost):g}")
    told = [str(v) for answer in planned.answers for _, v in sorted(answer.leaves, key=str) if isinstance(v, str)]
    if missing := [v for v in told if v in planned.reply and v not in turn.reply]:
        raise Rejected("answer left out", f"the assistant does not say {missing[0]!r}")
    if planned.reply.endswith("?") and "?" not in turn.reply:
        raise Rejected("question left out", "the assistant asks nothing")


def _numbers(text: str, words: bool = False) -> set[float]:
    """The numbers in digits, and on request those in words: "one" is seldom a number."""
    found = {float(n.replace(",", "")) for n in re.findall(r"\d+(?:,\d{3})*(?:\.\d+)?", text)}
    return found | {float(NUMBERS.index(w)) for w in re.findall(r"[a-z]+", text.lower()) if words and w in NUMBERS}


def _check_origins(record: Conversation, before: list[Turn], planned: Turn, turn: Turn, results: dict[str, Any]) -> None:
    """Every value must be in the words when its call needs it, and not before the draft says it. Raises `Rejected`."""
    upto = msgspec.structs.replace(record, turns=[*before, turn])
    provenance(upto, results)
    following = record.turns[len(before) + 1] if len(before) + 1 < len(record.turns) else None
    if not planned.calls and following is not None:
        silent = msgspec.structs.replace(following, user="")
        as_planned = msgspec.structs.replace(record, turns=[*record.turns[: len(before)], planned, silent])
        as_written = msgspec.structs.replace(record, turns=[*upto.turns, silent])
        if not _traceable(as_planned, results) and _traceable(as_written, results):
            raise Rejected("tells too much", "the person already says what the assistant is to ask for")


def _traceable(record: Conversation, results: dict[str, Any]) -> bool:
    try:
        provenance(record, results)
    except Rejected:
        return False
    return True
