"""The laws of the reward, each for any trajectory that could be. `HYPOTHESIS_PROFILE=thorough` looks at 10,000 of each.

A law that the paper's own formula breaks stands here as the smallest counter-example of it; the laws of the project's own preset,
which looks at effects, are in tests/test_effect.py.
"""

import copy
import itertools
import os

import msgspec
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from prove.rewards import ABLATIONS, PAPER, Call, Step, Trajectory, explain, reward
from prove.rewards import components as c
from prove.rewards.matching import equal_values, match, same_value

settings.register_profile("laws", max_examples=300, deadline=None, derandomize=True)
settings.register_profile("thorough", max_examples=10_000, deadline=None, derandomize=True)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "laws"))

WEIGHTS = {"paper": PAPER, **ABLATIONS}
presets = st.sampled_from(list(WEIGHTS.values()))


# --- any trajectory: a tiny library, and values so few that ties and namesakes are the rule


def tool(required=(), optional=()):
    properties = {n: {"type": t} for n, t in required} | {n: {"type": t, "default": d} for n, t, d in optional}
    return {"type": "object", "properties": properties, "required": [n for n, _ in required]}


SCHEMAS = {
    "look": tool(optional=[("limit", "integer", 10)]),
    "find": tool([("name", "string")]),
    "move": tool([("source", "string"), ("target", "string")], [("amount", "number", 1)]),
    "stop": tool(),
}
IDS = st.sampled_from(["A1", "A2", "A3"])
ARGUMENTS = {
    "look": st.one_of(st.just({}), st.fixed_dictionaries({"limit": st.sampled_from([5, 10])})),
    "find": st.fixed_dictionaries({"name": IDS}),
    "move": st.fixed_dictionaries({"source": IDS, "target": IDS}, optional={"amount": st.sampled_from([1, 1.0, 2])}),
    "stop": st.just({}),
}
VALUE = st.one_of(IDS, st.sampled_from([1, 2, 5, 10, True, None]))
KNOWN = st.sampled_from(sorted(SCHEMAS))


@st.composite
def steps(draw, least=1, most=5):
    out = []
    for i in range(draw(st.integers(least, most))):
        name = draw(KNOWN)
        out.append(Step(name, draw(ARGUMENTS[name]), tuple(sorted(draw(st.sets(st.integers(0, i - 1), max_size=2)) if i else ()))))
    return tuple(out)


@st.composite
def calls(draw, ground_truth, most=8):
    """Some right, some nearly right, some wild, some unreadable, in any order."""
    out = []
    for _ in range(draw(st.integers(0, most))):
        how, ok = draw(st.integers(0, 9)), draw(st.booleans())
        if how < 6 and ground_truth:
            step = draw(st.sampled_from(ground_truth))
            changed = draw(st.dictionaries(st.sampled_from(["name", "source", "target", "amount"]), VALUE, max_size=1)) if how > 3 else {}
            out.append(Call(step.name, step.arguments | {k: v for k, v in changed.items() if k in step.arguments}, ok or how < 3))
        elif how < 9:
            name = draw(st.one_of(KNOWN, st.just("dance")))
            out.append(Call(name, draw(ARGUMENTS.get(name, st.just({}))), ok and name in SCHEMAS))
        else:
            out.append(Call(draw(st.one_of(KNOWN, st.just(""))), None, False))
    return tuple(out)


@st.composite
def trajectories(draw, least=1):
    ground_truth = draw(steps(least))
    return Trajectory(SCHEMAS, ground_truth, draw(calls(ground_truth)), draw(st.sampled_from([True, False, None])))


def gold_of(ground_truth, goal=True):
    return Trajectory(SCHEMAS, ground_truth, tuple(Call(s.name, s.arguments, True) for s in ground_truth), goal)


def with_calls(trajectory, *parts):
    return msgspec.structs.replace(trajectory, calls=tuple(itertools.chain(*parts)))


# --- what is right, and what is nothing


@given(steps(), st.sampled_from([True, None]))
def test_gold_scores_exactly_1_3(ground_truth, goal):
    assert reward(gold_of(ground_truth, goal)) == 1.3


@given(presets, steps())
def test_gold_scores_the_sum_of_the_weights(weights, ground_truth):
    full = weights.validity + weights.coverage + weights.name + weights.argument
    assert reward(gold_of(ground_truth), weights) == pytest.approx(full, abs=1e-12)


@pytest.mark.parametrize("weights", WEIGHTS.values(), ids=WEIGHTS)
def test_abstention_scores_exactly_1_for_no_call_and_0_for_any(weights):
    assert reward(Trajectory(SCHEMAS, (), (), True), weights) == 1.0
    assert reward(Trajectory(SCHEMAS, (), (Call("look", {}, True),), True), weights) == 0.0
    assert reward(Trajectory(SCHEMAS, (), (Call("stop", {}, True),) * 3, False), weights) == 0.0


@given(presets, steps(), st.booleans())
def test_doing_nothing_scores_0_on_a_tool_task(weights, ground_truth, goal):
    assert reward(Trajectory(SCHEMAS, ground_truth, (), goal), weights) == 0.0


@given(steps(least=2), st.randoms(use_true_random=False))
def test_gold_in_another_order_scores_1_3_where_no_edge_forbids_it_and_less_where_one_does(ground_truth, random):
    order = list(range(len(ground_truth)))
    random.shuffle(order)
    at = {step: position for position, step in enumerate(order)}
    # equal steps are matched in their own order: which of two equal calls was meant for which, nobody can tell
    assume(not any(same(ground_truth[i], ground_truth[j]) for j in order for i in range(j)))
    whole = gold_of(ground_truth)
    shuffled = reward(with_calls(whole, [whole.calls[i] for i in order]))
    kept = all(at[j] < at[i] for i, step in enumerate(ground_truth) for j in step.after)
    assert shuffled == 1.3 if kept else shuffled < 1.3


def same(one, other):
    return one.name == other.name and all(one.arguments.get(k, v) == v for k, v in other.arguments.items())


@given(steps(), st.data())
def test_leaving_a_gold_call_out_scores_less(ground_truth, data):
    whole = gold_of(ground_truth)
    gone = data.draw(st.integers(0, len(ground_truth) - 1))
    assert reward(with_calls(whole, whole.calls[:gone], whole.calls[gone + 1 :])) < 1.3


# --- what adds nothing never pays


def qualifying(call, trajectory):
    """How many steps a call could stand for."""
    if not isinstance(call.arguments, dict):
        return 0
    schema = trajectory.schemas.get(call.name, {})
    return sum(s.name == call.name and equal_values(s, call.arguments, schema) is not None for s in trajectory.ground_truth)


def repeated(data, trajectory):
    """The trajectory with a call said again later, where the ground truth has no use for another one like it."""
    assume(trajectory.calls)
    position = data.draw(st.integers(0, len(trajectory.calls) - 1))
    call = trajectory.calls[position]
    assume(trajectory.calls.count(call) >= qualifying(call, trajectory))
    last = max(i for i, other in enumerate(trajectory.calls) if other == call)
    again = data.draw(st.integers(last + 1, len(trajectory.calls)))
    return with_calls(trajectory, trajectory.calls[:again], [call], trajectory.calls[again:])


def with_one_more(data, trajectory):
    """The trajectory with a call that can stand for no step: another tool's, one that lacks a key, an unreadable one."""
    name = data.draw(st.one_of(KNOWN, st.just("dance"), st.just("")))
    arguments = data.draw(st.one_of(ARGUMENTS.get(name, st.just({})), st.just({}), st.none()))
    call = Call(name, arguments, data.draw(st.booleans()) and name in SCHEMAS and arguments is not None)
    assume(not qualifying(call, trajectory))
    position = data.draw(st.integers(0, len(trajectory.calls)))
    return with_calls(trajectory, trajectory.calls[:position], [call], trajectory.calls[position:])


@st.composite
def reordered(draw):
    """A trajectory, often of gold's own calls, and the same in another order, often of two neighbours; and the order."""
    ground_truth = draw(steps(least=2))
    trajectory = draw(st.one_of(st.just(gold_of(ground_truth)), calls(ground_truth).map(lambda k: Trajectory(SCHEMAS, ground_truth, k))))
    places = list(range(len(trajectory.calls)))
    if len(places) > 1 and draw(st.booleans()):
        at = draw(st.integers(0, len(places) - 2))
        order = [*places[:at], at + 1, at, *places[at + 2 :]]
    else:
        order = draw(st.permutations(places))
    return trajectory, with_calls(trajectory, [trajectory.calls[i] for i in order]), order


def kept(trajectory):
    """The edges whose two steps some calls stand for in their order."""
    at = {m.step: m.call for m in match(trajectory)}
    edges = ((j, i) for i, step in enumerate(trajectory.ground_truth) for j in step.after)
    return {(j, i) for j, i in edges if j in at and i in at and at[j] < at[i]}


@given(reordered())
def test_of_two_orders_the_one_that_keeps_fewer_edges_never_scores_more(pair):
    # Which of two like calls of one tool was meant for which step nobody can tell, so that another order may be read as another
    # choice: the law is about orders in which every call stands for what it stood for.
    before, after, order = pair
    assume({(m.step, m.call) for m in match(before)} == {(m.step, order[m.call]) for m in match(after)})
    if kept(after) <= kept(before):
        assert reward(after) <= reward(before)
    if kept(after) >= kept(before):
        assert reward(after) >= reward(before)


# --- what adds nothing never pays under the paper's formula, but for what its means hide


@given(steps(), st.data())
def test_repeated_and_extra_calls_never_raise_gold(ground_truth, data):
    more = gold_of(ground_truth)
    for _ in range(data.draw(st.integers(1, 4))):
        more = data.draw(st.sampled_from([repeated, with_one_more]))(data, more) if more.calls else more
    assert reward(more) <= 1.3


@given(trajectories(), st.data())
def test_paper_repeated_and_extra_calls_never_raise_coverage_efficiency_or_argument(trajectory, data):
    before = explain(trajectory)
    for worse in (repeated, with_one_more):
        after = explain(worse(data, trajectory))
        assert after.values["coverage"] <= before.values["coverage"]
        assert after.values["efficiency"] <= before.values["efficiency"]
        assert after.values["argument"] == before.values["argument"]


LOOK, FIND = Step("look", {}), Step("find", {"name": "A1"})
BAD, GOOD, RIGHT = Call("dance", {}, False), Call("stop", {}, True), Call("look", {}, True)


def test_paper_counter_example_a_repeated_good_call_hides_a_bad_one():
    # Validity and name are means over the calls: 1/2 of two calls, 2/3 of three. The budget of two steps, 3, allows it.
    once, twice = (Trajectory(SCHEMAS, (LOOK, FIND), (BAD, *[RIGHT] * n)) for n in (1, 2))
    assert reward(twice) - reward(once) == pytest.approx((0.5 + 0.2) * (2 / 3 - 1 / 2))


def test_paper_counter_example_any_call_that_succeeds_is_better_than_none():
    # It has nothing to do with the task, and is worth 0.5 of 1.3.
    extra = Trajectory(SCHEMAS, (LOOK, FIND), (GOOD,))
    assert reward(extra) == 0.5


def test_paper_counter_example_refused_calls_with_the_right_arguments_cover_everything():
    # Matching asks for name and keys, so that nothing need ever be done: 0.5 * 2/3 + 0.5 + 0.2 + 0.1.
    refused = Trajectory(SCHEMAS, (LOOK, FIND), (Call("look", {}, False), Call("find", {"name": "A1"}, False)), True)
    assert reward(refused) == pytest.approx(17 / 15)


def test_paper_counter_example_wrong_values_cost_a_tenth():
    wrong = Trajectory(SCHEMAS, (FIND,), (Call("find", {"name": "A2"}, True),), False)
    assert reward(wrong) == pytest.approx(1.2)


def test_paper_counter_example_one_call_and_no_more_is_nearly_gold():
    first = Trajectory(SCHEMAS, (LOOK, FIND), (RIGHT,), True)
    assert reward(first) == pytest.approx(1.05)


# --- names, bounds, purity


def renamed(value, names):
    if isinstance(value, str):
        return names.get(value, value)
    return {k: renamed(v, names) for k, v in value.items()} if isinstance(value, dict) else value


@given(presets, trajectories(), st.permutations(["A1", "A2", "A3"]), st.booleans())
def test_renaming_ids_consistently_changes_nothing(weights, trajectory, names, fresh):
    to = dict(zip(["A1", "A2", "A3"], [f"B{n}" for n in names] if fresh else names, strict=True))
    same = Trajectory(
        SCHEMAS,
        tuple(Step(s.name, renamed(s.arguments, to), s.after) for s in trajectory.ground_truth),
        tuple(Call(k.name, renamed(k.arguments, to), k.ok) for k in trajectory.calls),
        trajectory.goal,
    )
    one, other = explain(trajectory, weights), explain(same, weights)
    assert one.added == other.added
    assert one.matches == other.matches


@given(presets, trajectories())
def test_every_component_and_the_total_stay_in_their_bounds(weights, trajectory):
    why = explain(trajectory, weights)
    assert all(0 <= why.values[name] <= 1 for name in ("validity", "coverage", "name", "argument"))
    n, g = len(trajectory.calls), len(trajectory.ground_truth)
    budget = g if weights.beta == 0 else g + (g + 1) // 2
    assert -0.5 * max(0, n - budget) / budget == pytest.approx(why.values["efficiency"])
    assert weights.efficiency * why.values["efficiency"] - 1e-12 <= why.total <= 1.3
    assert sum(why.added.values()) == why.total


@given(presets, trajectories(least=0))
def test_the_reward_is_pure(weights, trajectory):
    before = copy.deepcopy(trajectory)
    assert explain(trajectory, weights) == explain(trajectory, weights)
    assert trajectory == before


@given(presets, trajectories(least=0))
def test_an_explanation_survives_being_written_down_and_names_every_call(weights, trajectory):
    why = explain(trajectory, weights)
    text = str(why)
    assert msgspec.json.decode(msgspec.json.encode(why), type=type(why)).matches == why.matches
    assert text.count("call ") >= len(trajectory.calls)
    assert all(f"step {m.step + 1}, " in text for m in why.matches)


# --- the matching


def brute_force(trajectory):
    """The best assignment by trying all: (matches, succeeded, equal values, then each step's earliest call)."""
    g, k = trajectory.ground_truth, trajectory.calls
    options = [
        [None, *(j for j, call in enumerate(k) if call.name == step.name and qualifies(step, call, trajectory) is not None)] for step in g
    ]
    best = max(
        (way for way in itertools.product(*options) if len(used := [j for j in way if j is not None]) == len(set(used))),
        key=lambda way: worth(way, trajectory),
    )
    return {i: j for i, j in enumerate(best) if j is not None}


def qualifies(step, call, trajectory):
    if not isinstance(call.arguments, dict):
        return None
    schema = trajectory.schemas[call.name]
    return equal_values(step, call.arguments, schema)


def worth(way, trajectory):
    pairs = [(trajectory.ground_truth[i], trajectory.calls[j]) for i, j in enumerate(way) if j is not None]
    n = len(trajectory.calls)
    tools = sorted({s.name for s in trajectory.ground_truth})
    early = [[-(n if j is None else j) for i, j in enumerate(way) if trajectory.ground_truth[i].name == t] for t in tools]
    return len(pairs), sum(k.ok for _, k in pairs), sum(qualifies(s, k, trajectory) for s, k in pairs), early


@given(trajectories())
def test_the_matching_is_one_to_one_and_the_best_there_is(trajectory):
    found = match(trajectory)
    assert len({m.call for m in found}) == len({m.step for m in found}) == len(found)
    assert all(trajectory.calls[m.call].name == trajectory.ground_truth[m.step].name for m in found)
    assert {m.step: m.call for m in found} == brute_force(trajectory)


def test_equal_steps_are_matched_in_their_own_order_so_that_gold_keeps_its_edges():
    look, stop, again = Step("look", {}), Step("stop", {}, (0,)), Step("look", {}, (1,))
    assert [m.call for m in match(gold_of((look, stop, again)))] == [0, 1, 2]


def test_a_call_that_succeeded_is_matched_before_an_earlier_one_that_was_refused():
    trajectory = Trajectory(SCHEMAS, (LOOK,), (Call("look", {}, False), RIGHT))
    assert [m.call for m in match(trajectory)] == [1]


def test_the_matching_is_exact_for_hundreds_of_calls():
    ground_truth = tuple(Step("find", {"name": f"A{i}"}) for i in range(60))
    backwards = tuple(Call("find", {"name": f"A{i}"}, True) for i in reversed(range(300)))
    assert [m.call for m in match(Trajectory(SCHEMAS, ground_truth, backwards))] == [299 - i for i in range(60)]


CASELESS = {"type": "string", "x-normal": "caseless"}


@pytest.mark.parametrize(
    ("a", "b", "schema", "equal"),
    [
        (5, 5.0, {}, True),
        (True, 1, {}, False),
        (0, False, {}, False),
        (None, None, {}, True),
        (None, False, {}, False),
        ("Rome", "rome", {}, False),
        ("Rome", " rome", CASELESS, True),
        (["Rome", "Oslo"], ["oslo", "rome", "rome"], {"type": "array", "x-normal": "set", "items": CASELESS}, True),
        ([1, 2], [2, 1], {}, False),
        ({"a": 1.0}, {"a": 1}, {}, True),
        ({"a": True}, {"a": 1}, {}, False),
        ({"a": 1}, {"a": 1, "b": 2}, {}, False),
        ("5", 5, {}, False),
    ],
)
def test_values_are_equal_as_json_values_are(a, b, schema, equal):
    assert same_value(a, b, schema) is equal
    assert same_value(b, a, schema) is equal


def test_a_default_that_was_not_said_counts_as_said():
    trajectory = Trajectory(SCHEMAS, (Step("look", {"limit": 10}), Step("look", {"limit": 5})), (RIGHT,))
    (found,) = match(trajectory)
    assert (found.step, found.equal) == (0, 1.0)


@pytest.mark.parametrize(
    ("arguments", "fits"),
    [({"n": 5}, True), ({"n": 5.0}, True), ({"n": 5.5}, False), ({"n": True}, False), ({"n": "5"}, False), ({}, False), (None, False)],
)
def test_only_an_integer_fits_an_integer(arguments, fits):
    assert c.well_formed(arguments, {"properties": {"n": {"type": "integer"}}, "required": ["n"]}) is fits


def test_an_exception_is_raised_and_never_becomes_a_zero():
    with pytest.raises(AttributeError):
        reward(Trajectory(SCHEMAS, (LOOK,), (None,)))
