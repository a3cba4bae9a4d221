"""Data sets: any number of certified conversations. Item *i* depends only on (seed, *i*), so that any item can be made
alone, in parallel, again."""

import os
import signal
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import count, islice
from multiprocessing import get_context
from multiprocessing.pool import ThreadPool
from pathlib import Path
from random import Random
from typing import Any

import msgspec

from prove.files import whole, whole_lines
from prove.records import Conversation, Kind, read_conversations, write_conversations
from prove.run import RunError, writing
from prove.servers.catalog import load
from prove.servers.server import stable_hash
from prove.synthesis.ambiguity import single_out
from prove.synthesis.broad.compose import compose
from prove.synthesis.certify import Rejected, certify, home
from prove.synthesis.data.abstention import abstention
from prove.synthesis.data.dedup import Seen
from prove.synthesis.data.knobs import irrelevant, missing_function, narrow, with_distractors, with_stripped_enums
from prove.synthesis.data.plan import WORLDS, Plan
from prove.synthesis.machine import Machine
from prove.synthesis.planning.wishes import PERSONAS
from prove.synthesis.replies import tell_truth
from prove.synthesis.teachers.llm_goals import propose
from prove.synthesis.teachers.llm_teacher import LLMTeacher, Noting, Unspoken

Made = tuple[int, Conversation | None, list[str]]  # an item's number, the item, and why tries at it failed

ATTEMPTS = 12  # ways of making one item before it is given up
PATIENCE = 2  # of those, ways in which a refusal that is due is waited for


class Reject(msgspec.Struct, frozen=True):
    """An item that could not be made, or was made before: for counting."""

    item: int
    reason: str
    tries: int


def item(plan: Plan, i: int, teacher: LLMTeacher | None = None, outside: str = "") -> tuple[Conversation | None, list[str]]:
    """Item i of a plan and why earlier tries at it failed; None if all did.

    A `teacher` words it anew; an abstention comes from public data sets where `outside` says where they are.
    """
    failed: list[str] = []
    server = plan.homes[i % len(plan.homes)]
    tools = list(load(server).server.tools)
    focus = tools[(i // len(plan.homes)) % len(tools)]
    worlds = WORLDS[plan.split]
    seed = worlds[stable_hash(plan.seed, i) % len(worlds)]
    if outside and plan.kind(i) == "abstention":
        return abstention(outside, plan.seed, i, plan.split, server, seed), failed
    for attempt in range(ATTEMPTS):
        fate, rng = Random(f"{plan.seed}:{plan.split}:{i}"), Random(f"{plan.seed}:{plan.split}:{i}:{attempt}")
        speaker = Noting()
        about = focus if attempt < ATTEMPTS // 2 else None  # better about something else than not at all
        try:
            name = f"{server}-{seed}-{i:06}"
            proposes = teacher is not None and Random(f"goals:{name}").random() < teacher.goals
            if teacher and proposes:
                record = propose(teacher.llm, server, seed, rng.choice(PERSONAS), rng, plan.shape.min_turns, name)
            elif plan.broad and plan.kind(i) == "multi_turn" and fate.random() >= plan.broad.plain:
                record = compose(name, server, seed, fate, rng, plan.broad, patient=attempt < ATTEMPTS // 2)
            else:
                record = Machine(server, seed, about, fate, rng, speaker, plan.shape, attempt < PATIENCE).run(name)
            record = certify(record)
            single_out(record, home(record))
            tell_truth(record, home(record))
            record = _of_kind(record, plan.kind(i), rng)
            if teacher and not proposes:
                record = teacher.reworded(record, speaker)
            return _perturbed(msgspec.structs.replace(record, split=plan.split), plan, rng), failed
        except Rejected as rejected:
            failed.append(rejected.reason)
            if isinstance(rejected, Unspoken) or (teacher and proposes):  # each further try would be paid for
                break
    return None, failed


def _of_kind(record: Conversation, kind: Kind, rng: Random) -> Conversation:
    """A certified conversation turned into one of that kind; what is no longer the same is certified anew."""
    if kind == "multi_turn":
        return record
    return certify(missing_function(record, rng) if kind == "clarification" else irrelevant(record, rng))


def _perturbed(record: Conversation, plan: Plan, rng: Random) -> Conversation:
    """The knobs, each drawn for whatever came before, so that turning one leaves the others' draws alone."""
    rolls = rng.random(), rng.random()
    if plan.max_tools:
        record = narrow(record, plan.max_tools, Random(f"narrow:{record.id}"))
    if plan.broad and rng.random() < plan.broad.many_tools:
        record = with_distractors(record, Random(f"distractors:{record.id}"), 20, 60)
    elif rolls[0] < plan.distractors:
        record = with_distractors(record, Random(f"distractors:{record.id}"))
    return with_stripped_enums(record) if rolls[1] < plan.stripped_enums else record


# --- many


def synthesize(
    plan: Plan,
    out: Path,
    workers: int = 1,
    tell: Callable[[int, int], None] | None = None,
    teacher: LLMTeacher | None = None,
    ray: bool = False,
    outside: str = "",
) -> Path:
    """Make a plan's conversations into `out` (JSON lines) and its rejects beside it; goes on where a killed run stopped.

    The same bytes for any number of workers, which are processes, those of a `ray` cluster, or with a `teacher` threads, since
    those wait for its endpoint. A finished file of the same plan with a smaller n is gone on with. `tell(done, n)` is called now and
    then. Raises OSError where `out` cannot be written, and `RunError` where another process writes it or it holds what another plan
    has made; what is there stays as it is.
    """
    if out.is_dir():
        raise RunError(f"{out} is a folder: name a file in it")
    with writing(out):
        return _synthesize(plan, out, workers, tell, teacher, ray, outside)


def _synthesize(
    plan: Plan, out: Path, workers: int, tell: Callable[[int, int], None] | None, teacher: LLMTeacher | None, ray: bool, outside: str
) -> Path:
    part, rejects = part_of(out), out.with_name(out.stem + ".rejects.jsonl")
    header = _header(plan, teacher, outside)
    if out.exists():
        made_by = rejects.read_bytes().split(b"\n")[0] if rejects.exists() else b""
        if made_by == header:
            return out
        if not _shorter(made_by, header):
            raise RunError(f"{out} was made with other settings: give another --out, or move it away")
        os.replace(out, part)
    start, kept = _resume(part, rejects, header, plan)
    seen = Seen(kept)
    quota = _quotas(plan)
    quota.subtract(c.kind for c in kept)
    make = partial(_numbered, plan, teacher, outside)
    made = _made(plan, start, quota, workers, make, _pool(workers, teacher, ray)) if quota.total() else ()
    with part.open("ab") as good, rejects.open("ab") as bad:
        for i, record, failed in made:
            if quota[plan.kind(i)] <= 0:
                continue  # made ahead by a worker before this kind was complete
            reason = "tries used up" if record is None else "duplicate" if seen.known(record) else ""
            for why in [*failed, *([reason] if reason else [])]:
                bad.write(msgspec.json.encode(Reject(i, why, len(failed))) + b"\n")
            bad.flush()  # before the record: where a record stands, all rejects of its item do
            if record is not None and not reason:
                quota[record.kind] -= 1
                good.write(msgspec.json.encode(record) + b"\n")
                good.flush()
            done = plan.n - sum(quota.values())
            if tell:
                tell(done, plan.n)
            if done >= plan.n or i >= 20 * plan.n + 1000:
                break
    os.replace(part, out)
    return out


def _header(plan: Plan, teacher: LLMTeacher | None, outside: str) -> bytes:
    """What the bytes of a data set depend on: the first line of its rejects."""
    more = ({"teacher": teacher.settings} if teacher else {}) | ({"outside": outside} if outside else {})
    return msgspec.json.encode({"plan": plan} | more if more else plan)


def part_of(out: Path) -> Path:
    """Where a data set grows until it is whole."""
    return out.with_name(out.name + ".part")


def _shorter(made_by: bytes, header: bytes) -> int:
    """The n of another plan that is otherwise the same and smaller, else 0."""
    try:
        there, here = msgspec.json.decode(made_by), msgspec.json.decode(header)
        before, now = (settings.get("plan", settings).pop("n") for settings in (there, here))
        return int(before) if there == here and before < now else 0
    except (msgspec.DecodeError, AttributeError, KeyError, TypeError):
        return 0


def _shared(kept: list[Conversation], plans: Sequence[Plan]) -> list[Conversation]:
    """The records that all of these plans, which differ in n, begin with: from where one has enough of a kind, it passes items over
    that the others make."""
    quotas = [_quotas(plan) for plan in plans]
    for done, conversation in enumerate(kept):
        if len(plans[0].mix) > 1 and any(quota[kind] <= 0 for quota in quotas for kind, _ in plans[0].mix):
            return kept[:done]
        for quota in quotas:
            quota[conversation.kind] -= 1
    return kept


def _quotas(plan: Plan) -> Counter[str]:
    """How many of each kind: the shares of the mix, rounded so that they add up."""
    total, left = sum(w for _, w in plan.mix), plan.n
    quota: Counter[str] = Counter()
    for kind, weight in plan.mix[1:]:
        quota[kind] = round(plan.n * weight / total)
        left -= quota[kind]
    quota[plan.mix[0][0]] = left
    return quota


def _resume(part: Path, rejects: Path, header: bytes, plan: Plan) -> tuple[int, list[Conversation]]:
    """Where a killed run of the same plan, or a run of a smaller one, stopped: the next item, and what is there. A torn last line is
    dropped.

    Leaves a file of rejects that begins with the plan and holds no item after the last record's.
    """
    lines = whole_lines(rejects) if part.exists() and rejects.exists() else []
    smaller = _shorter(lines[0], header) if lines else 0
    if lines and lines[0] != header and not smaller:
        if whole_lines(part):
            raise RunError(f"{part} was begun with other settings: give another --out, or move it away")
        lines = []
    if not lines:
        part.unlink(missing_ok=True)
        rejects.write_bytes(header + b"\n")
        return 0, []
    whole_lines(part)
    kept = read_conversations(part)
    if smaller:
        kept = _shared(kept, (msgspec.structs.replace(plan, n=smaller), plan))
        write_conversations(part, kept)
    last = [int(c.id.rsplit("-", 1)[1]) for c in kept[-1:]]
    # what follows the last record is made again
    trusted = last[0] if last else -1
    fine = [line for line in lines[1:] if msgspec.json.decode(line)["item"] <= trusted]
    with whole(rejects) as draft:
        draft.write_bytes(b"\n".join([header, *fine]) + b"\n")
    return trusted + 1, kept


def _made(plan: Plan, start: int, quota: Counter[str], workers: int, make: Callable[[int], Made], pool: Any) -> Iterator[Made]:
    """Items from `start` on, in order; those of a kind of which there is enough are passed over."""
    wanted = (i for i in count(start) if quota[plan.kind(i)] > 0)
    if pool is None:
        yield from map(make, wanted)
        return
    with pool:
        while True:  # no more ahead than is still wanted: a teacher's answers cost
            size = min(32 * workers, quota.total())
            yield from pool.imap(make, list(islice(wanted, size)), chunksize=max(1, min(8, size // workers)))


def _pool(workers: int, teacher: LLMTeacher | None, ray: bool) -> Any:
    """Who makes the items: threads, processes of this machine, or those of a Ray cluster (the one at RAY_ADDRESS, or a local
    one); None for this process alone. Raises `RunError` where Ray is wanted and not installed."""
    if ray:
        try:
            from ray.util.multiprocessing import Pool
        except ImportError:
            raise RunError("Ray is not installed: pip install 'prove-rl[distributed]', or use --workers") from None
        return Pool(workers)
    if workers <= 1:
        return None
    return ThreadPool(workers) if teacher else get_context("fork").Pool(workers, signal.signal, (signal.SIGINT, signal.SIG_IGN))


def _numbered(plan: Plan, teacher: LLMTeacher | None, outside: str, i: int) -> Made:
    record, failed = item(plan, i, teacher, outside)
    return i, record, failed


def read_rejects(out: Path) -> Counter[str]:
    """How many tries failed for which reason, from the file beside a data set."""
    path = out.with_name(out.stem + ".rejects.jsonl")
    lines: list[Any] = [msgspec.json.decode(line) for line in path.read_bytes().splitlines()[1:]]
    return Counter(line["reason"] for line in lines)
