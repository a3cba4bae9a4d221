"""Whether a conversation keeps the rules in its prompt, read from the server's own page of them."""

import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from prove.servers.catalog import load, toolbox
from prove.verify.evidence import Evidence


def broken(e: Evidence) -> Iterator[str]:
    """What of the rules does not hold."""
    record, tools = e.record, toolbox(e.record.homes)
    for i, turn in enumerate(record.turns):
        if turn.held and (not record.policy or e.whole.states[i].outcome() != e.whole.states[i + 1].outcome()):
            yield f"turn {i + 1} is held {'and changes something' if record.policy else 'without a rule'}"
    if not record.policy:
        return
    rules = _rules(record.server)
    if missing := [rule["text"] for rule in rules if rule["text"] not in record.policy]:
        yield f"the prompt does not say {missing[0]!r}"
    asked = False  # whether the turn before was held
    for i, turn in enumerate(record.turns):
        for call in turn.calls:
            home, tool = tools[call.name]
            for rule in (r for r in rules if home == record.server and tool.name in r["tools"]):
                yield from (f"turn {i + 1}: {call.name} {why}" for why in _broken(e, rule, call, asked))
        asked = turn.held


def _broken(e: Evidence, rule: dict[str, Any], call: Any, asked: bool) -> Iterator[str]:
    if rule["kind"] == "confirm" and not asked:
        yield "is made without asking"
    if rule["kind"] == "limit" and call.arguments.get(rule["argument"], rule["over"]) > rule["over"]:
        yield f"has {rule['argument']} = {call.arguments[rule['argument']]}, which is over {rule['over']}"
    if rule["kind"] == "fact":
        value = e.whole.states[0].fork().call(rule["read"], _about(e, rule, call.arguments)).value
        for step in rule["path"].split("."):
            value = value[step]
        if value > rule["over"]:
            yield f"is made though {rule['path']} is {value}, which is over {rule['over']}"


def _about(e: Evidence, rule: dict[str, Any], arguments: dict[str, Any]) -> dict[str, Any]:
    """The arguments with which the rule's read looks at the same record."""
    return {p.name: arguments[p.name] for p in load(e.record.server).server.tools[rule["read"]].parameters if p.name in arguments}


@cache
def _rules(server: str) -> list[dict[str, Any]]:
    page: list[dict[str, Any]] = tomllib.loads((Path(load(server).package.__path__[0]) / "policy.toml").read_text(encoding="utf-8"))["rule"]
    return page
