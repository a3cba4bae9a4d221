"""The reward by effect: its laws for any findings, and what is found in real sessions. Both sides of each."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from prove.audit import audit
from prove.audit.assistants import early, stray
from prove.episode import Episode, Reply, ToolCall, play
from prove.policies import Oracle, Script
from prove.records import Alternative, Answer, GroundTruthCall, OtherCall, Turn
from prove.rewards import Call, Findings, Step, Trajectory, effect, explain, find, reward
from prove.servers.session import Session
from prove.synthesis.certify import certify

from .test_verify import talk

SHARE = st.one_of(st.sampled_from([0.0, 1.0]), st.floats(0, 1))
HARM = st.sampled_from([0.0, 1.0, 1.1, 1.5])


@st.composite
def trajectories(draw):
    n = draw(st.integers(1, 5))
    found = Findings(tuple(draw(SHARE) for _ in range(n)), draw(HARM), draw(st.none() | SHARE), draw(st.none() | SHARE))
    return Trajectory({}, (Step("a", {}),) * n, (Call("a", {}, True),) * draw(st.integers(0, 12)), draw(st.booleans()), found)


def but(it, calls=None, **findings):
    changed = msgspec.structs.replace(it, findings=msgspec.structs.replace(it.findings, **findings))
    return changed if calls is None else msgspec.structs.replace(changed, calls=it.calls[:1] * calls)


@given(trajectories())
def test_a_hit_gets_at_least_0_8_and_a_miss_at_most_0_6(it):
    assert 0.8 <= reward(it, effect) <= 1 + 1e-12 if it.goal else reward(it, effect) <= 0.6 + 1e-12


@given(trajectories(), st.data())
def test_a_step_more_never_pays_less_and_in_a_miss_it_pays_more(it, data):
    at = data.draw(st.integers(0, len(it.ground_truth) - 1))
    more = but(it, done=tuple(1.0 if i == at else share for i, share in enumerate(it.findings.done)))
    gain = reward(more, effect) - reward(it, effect)
    assert (
        gain >= -1e-12
        if it.goal or it.findings.done[at] == 1
        else gain == pytest.approx(0.6 * (1 - it.findings.done[at]) / len(it.ground_truth))
    )


@given(trajectories(), HARM)
def test_harm_costs_more_than_a_step_earns_at_any_point(it, harm):
    spared, harmed = but(it, harm=0.0), but(it, harm=1.0 + harm)
    assert it.goal or reward(harmed, effect) <= reward(spared, effect) - 0.6 / len(it.ground_truth) + 1e-12


@given(trajectories(), st.integers(1, 12))
def test_a_call_more_never_pays_by_itself(it, n):
    it = msgspec.structs.replace(it, calls=(Call("a", {}, True),))
    assert reward(but(it, n + 1), effect) <= reward(but(it, n), effect) + 1e-12


@given(trajectories())
def test_an_explanation_adds_up_and_says_of_each_step_how_much_is_there(it):
    why = explain(it, effect)
    assert why.total == sum(why.added.values())
    assert str(why).count("of its effect is there") == len(it.ground_truth)


def test_where_there_is_nothing_to_do_doing_nothing_pays_1_and_each_call_halves_it():
    assert [reward(Trajectory({}, (), (Call("a", {}, True),) * n, n == 0), effect) for n in range(3)] == [1, 0.5, 0.25]


def test_a_preset_of_ones_own_is_a_function_and_is_found_by_its_name():
    it = Trajectory({}, (), (Call("a", {}, True),), True)
    assert explain(it, find(f"{__name__}:thrifty")).added == {"goal": 1.0, "calls": -0.1}
    for name, said in (("efect", "did you mean 'effect'"), ("prove:nothing", "has no attribute"), ("nowhere.at.all:x", "No module")):
        with pytest.raises(LookupError, match=said):
            find(name)
    with pytest.raises(TypeError, match="what each component adds"):
        reward(it, lambda trajectory: 3)


def thrifty(trajectory):
    return {"goal": float(bool(trajectory.goal)), "calls": -0.1 * len(trajectory.calls)}


# --- what is found


@pytest.fixture(scope="module")
def tasks():
    return [t for t in audit.tasks(16, ("banking", "budget", "calendar", "issue_tracker")) if t.calls]


def played(conversation, turns, words=None):
    """The episode in which those calls are made, turn by turn."""

    def move(e):
        if turns[e.turn] and not e.calls_in_turn:
            return Reply("", [ToolCall(c.name, c.arguments) for c in turns[e.turn]])
        return Reply(conversation.turns[e.turn].reply if words is None else words)

    return play(Script(move), [conversation])[0]


def found(conversation, turns, words=None):
    return played(conversation, turns, words).trajectory().findings


def test_of_gold_all_is_done_said_and_in_time_and_of_silence_nothing(tasks):
    for episode in play(Oracle(), tasks):
        it = episode.trajectory().findings
        assert (set(it.done), it.harm, it.said in (1, None), it.timely in (1, None)) == ({1.0}, 0, True, True)
    for task in tasks:
        it = found(task, [[] for _ in task.turns], "")
        assert max(it.done) < 1
        assert (it.harm, it.said in (0, None)) == (0, True)


def test_a_prefix_of_gold_has_its_own_steps_done_and_no_harm(tasks):
    for task in tasks:
        for kept in range(len(task.calls)):
            ids = {c.id for c in task.calls[:kept]}
            it = found(task, [[c for c in t.calls if c.id in ids] for t in task.turns])
            assert (it.done[:kept], it.harm) == ((1.0,) * kept, 0)


def test_a_write_that_nobody_asked_for_is_harm_beside_gold_and_alone(tasks):
    seen = 0
    for task in tasks:
        other = stray(Episode(task), home=True)
        if other:
            whole = played(task, [[*t.calls, *(other if i == 0 else [])] for i, t in enumerate(task.turns)])
            alone = found(task, [other if i == 0 else [] for i in range(len(task.turns))])
            assert whole.trajectory().findings.harm >= 1
            assert alone.harm >= 1
            assert not whole.goal_reached()
            seen += 1
    assert seen >= 3


def calendar_change():
    session = Session.open("calendar", 0)
    events = [e for e in session.servers["calendar"].events if e.recurrence is None and not e.attendees]
    able = [e for e in events if session.fork().call("update_event", {"event_id": e.event_id, "notes": "a"}).ok]
    one, other = able[0], able[1]
    change = {"event_id": one.event_id, "summary": "Quarterly planning", "notes": "Bring the figures"}
    words = f'Call {one.event_id} "Quarterly planning" and note "Bring the figures".'
    turns = [Turn(words, "complete", [GroundTruthCall("c1", "update_event", change)], "")]
    return certify(talk(turns, server="calendar")), change, other.event_id


def test_half_of_a_change_is_half_done_whole_in_two_calls_and_none_of_it_where_it_is_wrong():
    record, change, other = calendar_change()
    update = lambda **a: OtherCall("update_event", {"event_id": change["event_id"], **a})
    title, note = update(summary=change["summary"]), update(notes=change["notes"])
    assert Alternative(["c1"], [title, note]) in record.certificate.alternatives
    assert found(record, [[title, note]]).done == (1.0,)
    assert found(record, [[title]]) == Findings((pytest.approx(0.35),), 0.0, None, 1.0)
    assert found(record, [[update(summary="Another")]]) == Findings((0.0,), 0.0, None, 1.0)
    assert found(record, [[update(summary="Another"), title, note]]).done == (1.0,)  # put right
    elsewhere = OtherCall("update_event", change | {"event_id": other})
    assert found(record, [[elsewhere]]) == Findings((0.0,), 1.0, None, 1.0)
    assert found(record, [[title, note, elsewhere]]) == Findings((1.0,), 1.0, None, 1.0)


def test_a_file_elsewhere_is_harm_and_nothing_is_done_by_it_though_the_folder_has_changed_as_it_should():
    home = Session.open("filesystem", 0).call("pwd", {}).value["home"]
    make = GroundTruthCall("c1", "mkdir", {"path": f"{home}/letters"})
    record = certify(talk([Turn(f"Make the folder {home}/letters.", "complete", [make], "")], server="filesystem"))
    assert found(record, [[make]]).done == (1.0,)
    there = found(record, [[OtherCall("mkdir", {"path": f"{home}/lettuce"})]])
    assert (there.done[0] < 1, there.harm) == (True, 1.0)


def test_a_wanted_record_that_is_wrongly_made_is_not_done_and_a_second_one_is_harm():
    add = GroundTruthCall("c1", "add_payee", {"name": "Ada Bright", "account_number": "5550001111"})
    record = certify(talk([Turn("Save Ada Bright, 5550001111, as a payee.", "complete", [add], "")]))
    wrong = OtherCall("add_payee", {"name": "Ada Bright", "account_number": "5550002222"})
    assert found(record, [[wrong]]) == Findings((0.0,), 0.0, None, 1.0)
    assert found(record, [[add, wrong]]) == Findings((1.0,), 1.0, None, 1.0)


def test_what_was_asked_has_to_be_said_in_its_turn_or_later_in_any_of_its_forms():
    bank = Session.open("banking", 0).servers["banking"]
    account = next(a for a in bank.accounts if a.balance > 100_000)
    ask = GroundTruthCall("c1", "get_account", {"account_id": account.account_id})
    answer = Answer("c1", "balance", account.balance)
    dollars = f"${account.balance / 100:,.2f}".removesuffix(".00")
    turn = Turn(f"What's the balance of {account.account_id}?", "complete", [ask], f"There is {dollars} in it.", [answer])
    record = certify(talk([turn]))
    for words, said in ((f"It holds {dollars}.", 1), ("Done.", 0), ("", 0), (f"{dollars}0", 0), ("It holds $1.", 0)):
        assert found(record, [[ask]], words).said == said, words


def test_acting_before_the_user_asked_is_seen(tasks):
    late = [t for t in tasks if any(c.name in writes(t) for turn in t.turns[1:] for c in turn.calls)]
    assert late
    for task in late:
        it = played(task, [early(Moment(task, i)) for i in range(len(task.turns))]).trajectory().findings
        assert it.timely < 1


def writes(task):
    tools = Episode(task).session.tools
    return {c.name for c in task.calls if tools[c.name][1].marks.writes}


class Moment:
    """An episode at the start of a turn, as far as a plan looks at it."""

    def __init__(self, conversation, turn):
        self.conversation, self.turn = conversation, turn
