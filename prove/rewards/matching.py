"""Which call stands for which ground-truth step: one to one, so that a repeated call can never match twice.

Among the calls that qualify for a step (its name, all of its argument keys) the assignment with the most matches
wins; then the one with most calls that succeeded, then most equal argument values, then the one that gives each step
in turn the earliest call. The paper leaves the matching open (section 4, "coverage"); this is what the project decides.

Where hundreds of calls of one tool compete (`MANY` pairs), the first three hold as they are, and of the last what an order can
depend on: of equal calls the earliest are matched, and equal steps have theirs in their own order.
"""

import json
from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import msgspec

from prove.rewards.trajectory import Call, Step, Trajectory
from prove.servers.normal import canonical

_ANY: dict[str, Any] = {}
MANY = 400  # pairs of a step and a call of one tool


class Match(msgspec.Struct, frozen=True):
    """Step `step` is done by call `call` (positions in G and C); `equal` is the share of its arguments that agree."""

    step: int
    call: int
    equal: float


def match(trajectory: Trajectory) -> tuple[Match, ...]:
    """The best assignment of calls to steps, in the order of the steps."""
    steps, calls = defaultdict(list), defaultdict(list)
    for i, step in enumerate(trajectory.ground_truth):
        steps[step.name].append(i)
    for j, call in enumerate(trajectory.calls):
        if call.name in steps and isinstance(call.arguments, dict):
            calls[call.name].append(j)
    found = [m for name in calls for m in _match_tool(trajectory, trajectory.schemas.get(name, {}), steps[name], calls[name])]
    return tuple(sorted(found, key=lambda m: m.step))


def _match_tool(trajectory: Trajectory, schema: dict[str, Any], at_steps: list[int], at_calls: list[int]) -> list[Match]:
    """Match the steps and calls of one tool: a call can only stand for a step of its own name."""
    steps, calls = [trajectory.ground_truth[i] for i in at_steps], [trajectory.calls[j] for j in at_calls]
    if len(steps) * len(calls) > MANY:
        return _match_many(steps, calls, schema, at_steps, at_calls)
    equal = [[equal_values(step, call.arguments, schema) for call in calls] for step in steps]
    chosen = [_favourite(row, calls) for row in equal]
    taken = [j for j in chosen if j is not None]
    if len(set(taken)) < len(taken):  # two steps want the same call; otherwise nothing is better than everyone's favourite
        chosen = assign(_weights(equal, steps, calls))
    return [
        Match(at_steps[i], at_calls[j], count / len(steps[i].arguments) if steps[i].arguments else 1.0)
        for i, j in enumerate(chosen)
        if j is not None and (count := equal[i][j]) is not None
    ]


def _match_many(steps: list[Step], calls: list[Call], schema: dict[str, Any], at_steps: list[int], at_calls: list[int]) -> list[Match]:
    """Match by kinds: equal steps are one row, equal calls with the same result one column."""
    import numpy as np
    from scipy.optimize import linear_sum_assignment  # slow to import, and rarely needed

    row_of, rows = _kinds([_text(step.arguments) for step in steps])
    column_of, columns = _kinds([f"{call.ok}{_text(call.arguments)}" for call in calls])
    kinds_R_K = _equal_counts([steps[r[0]].arguments for r in rows], [calls[k[0]].arguments for k in columns], schema)
    equal_S_C = kinds_R_K[np.ix_(row_of, column_of)]
    n, most = min(len(steps), len(calls)) + 1, max(len(step.arguments) for step in steps) + 1
    ok_C = np.array([call.ok for call in calls])
    worth_S_C = np.where(equal_S_C < 0, 0, n * most * (n + ok_C) + equal_S_C)  # a match, one that succeeded, then equal values
    chosen: dict[int, tuple[int, int]] = {}  # step -> (kind of call, equal values)
    for i, j in zip(*linear_sum_assignment(worth_S_C, maximize=True), strict=True):
        if equal_S_C[i, j] >= 0:
            chosen[int(i)] = (column_of[j], int(equal_S_C[i, j]))
    free = {kind: iter(members) for kind, members in enumerate(columns)}
    taken = {i: next(free[kind]) for i, (kind, _) in chosen.items()}
    found = list[Match]()
    for members in rows:
        mine = [i for i in members if i in taken]
        for i, other in zip(mine, sorted(mine, key=taken.__getitem__), strict=True):
            size = len(steps[i].arguments)
            found.append(Match(at_steps[i], at_calls[taken[other]], chosen[other][1] / size if size else 1.0))
    return found


def _equal_counts(wanted: list[dict[str, Any]], given: list[dict[str, Any]], schema: dict[str, Any]) -> Any:
    """`equal_values` of each with each, -1 for None."""
    import numpy as np

    properties = schema.get("properties", {})
    specs = {key: properties.get(key, _ANY) for arguments in wanted for key in arguments}
    token = lambda arguments, key: _normal_text(arguments[key], specs[key]) if key in arguments else ""
    given_by_key = {
        key: np.array([token(g, key) or (token({key: spec["default"]}, key) if "default" in spec else "") for g in given], object)
        for key, spec in specs.items()
    }
    counts: Any = np.zeros((len(wanted), len(given)), int)
    for row, arguments in zip(counts, wanted, strict=True):
        for key in arguments:
            row += given_by_key[key] == token(arguments, key)
        for key in arguments:
            row[given_by_key[key] == ""] = -1
    return counts


def _normal_text(value: Any, spec: dict[str, Any]) -> str:
    """A value as a text that equals another's where `same_value` holds."""
    return _text(_whole(canonical(value, spec)))


def _whole(value: Any) -> Any:
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, list | tuple):
        return [_whole(item) for item in value]
    return {key: _whole(item) for key, item in value.items()} if isinstance(value, dict) else value


def _kinds(texts: list[str]) -> tuple[list[int], list[list[int]]]:
    """(the number of each one's kind, the members of each kind in order): kinds are equal texts."""
    number = {text: i for i, text in enumerate(dict.fromkeys(texts))}
    of, members = [number[text] for text in texts], list[list[int]]([] for _ in number)
    for i, kind in enumerate(of):
        members[kind].append(i)
    return of, members


def _text(value: Any) -> str:
    return json.dumps(value, sort_keys=True)


def _favourite(row: list[int | None], calls: list[Call]) -> int | None:
    """The call that a step would have if it were alone: one that succeeded, then most equal values, then the earliest."""
    best, best_rank = None, (False, -1)
    for j, count in enumerate(row):
        if count is not None and (rank := (calls[j].ok, count)) > best_rank:
            best, best_rank = j, rank
    return best


def _weights(equal: list[list[int | None]], steps: list[Step], calls: list[Call]) -> list[list[int]]:
    """What each pair is worth: one whole number whose digits are the criteria, so that no lesser one ever outweighs a
    greater one, however many pairs there are. 0 for a pair that does not qualify."""
    n_steps, n_calls = len(steps), len(calls)
    base = n_calls + 1
    unit_equal = base**n_steps
    unit_ok = unit_equal * (1 + sum(len(step.arguments) for step in steps))
    unit_match = unit_ok * (n_steps + 1)
    earlier = [base ** (n_steps - 1 - i) for i in range(n_steps)]
    return [
        [
            0 if count is None else unit_match + unit_ok * call.ok + unit_equal * count + earlier[i] * (n_calls - j)
            for j, (count, call) in enumerate(zip(row, calls, strict=True))
        ]
        for i, row in enumerate(equal)
    ]


def assign(weights: Sequence[Sequence[int]]) -> list[int | None]:
    """For each row its column, no column twice, so that the sum of the weights is greatest; None for weight 0.

    The Hungarian method (Kuhn 1955; Munkres 1957) on whole numbers of any size: floats would blur the lesser criteria.
    """
    n_rows, n_columns = len(weights), len(weights[0])
    worth = [[*row, *[0] * n_rows] for row in weights]  # with a column for each row that is to go without
    row_price, column_price = [max(row) for row in worth], [0] * (n_columns + n_rows)  # no pair is worth more than its prices
    column_of: dict[int, int] = {}
    row_of: dict[int, int] = {}
    for start in range(n_rows):
        came_from: dict[int, int] = {}  # column -> the row through which it is reached most cheaply
        slack: dict[int, int] = {}  # what reaching a column would cost
        rows, columns, row = [start], set[int](), start
        while True:
            for column in range(n_columns + n_rows):
                if column not in columns:
                    cost = row_price[row] + column_price[column] - worth[row][column]
                    if column not in slack or cost < slack[column]:
                        slack[column], came_from[column] = cost, row
            nearest = min(slack, key=slack.__getitem__)
            cost = slack.pop(nearest)
            if cost:
                for r in rows:
                    row_price[r] -= cost
                for c in columns:
                    column_price[c] += cost
                slack = {c: s - cost for c, s in slack.items()}
            columns.add(nearest)
            if nearest not in row_of:
                break
            rows.append(row := row_of[nearest])
        column = nearest
        while True:  # on the way back to the start, every row takes the column that was reached through it
            row = came_from[column]
            released = column_of.get(row, -1)
            column_of[row], row_of[column] = column, row
            if row == start:
                break
            column = released
    return [column_of[r] if column_of[r] < n_columns and weights[r][column_of[r]] else None for r in range(n_rows)]


def equal_values(step: Step, given: dict[str, Any], schema: dict[str, Any]) -> int | None:
    """How many of the step's arguments have the value that was given, or the schema's default where none was; None where one of
    its keys has neither."""
    properties = schema.get("properties", {})
    equal = 0
    for key, value in step.arguments.items():
        spec = properties.get(key, _ANY)
        if key not in given and "default" not in spec:
            return None
        other = given[key] if key in given else spec["default"]
        equal += same_value(value, other, spec)
    return equal


def same_value(a: Any, b: Any, schema: dict[str, Any]) -> bool:
    """Whether two arguments are one to the tool: equal in the normal form of their type. 5 equals 5.0, True is no number."""
    return a is b or _same_json(canonical(a, schema), canonical(b, schema))


def _same_json(a: Any, b: Any) -> bool:
    if isinstance(a, bool) or isinstance(b, bool):
        return a is b
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(_same_json, a, b))
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(_same_json(v, b[k]) for k, v in a.items())
    return bool(a == b)
