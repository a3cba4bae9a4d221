"""A value means one thing: however it is spelled, and whatever is sent in its place, over all tools."""

import json
import re
import unicodedata
from datetime import datetime, timedelta, timezone
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prove.rewards.matching import same_value
from prove.servers.catalog import packages
from prove.servers.decoding import ecma
from prove.servers.normal import canonical, form_of
from prove.servers.server import Server
from prove.servers.session import Session
from prove.synthesis.planning.values import NoValue
from prove.synthesis.planning.wander import arguments_for, curated, wander

SERVERS = list(packages())
REFUSALS = {"invalid_argument", "not_found", "conflict", "failed_precondition", "permission_denied", "resource_exhausted"}
ARABIC = str.maketrans("0123456789", "٠١٢٣٤٥٦٧٨٩")
DEEP: list = []
for _ in range(5000):
    DEEP = [DEEP]
NUMBERS = (2**64, -(2**64), float("inf"), float("nan"), -0.0, True, None)
HOSTILE = (*NUMBERS, "", " \t", "x" * 1_000_000, "\ud800", "٣", DEEP, {}, [], ["", "\udfff"])


def spec_of(tool, name):
    return tool.input_schema["properties"][name]


def respelled(value, spec, rng):
    """The same value in other letters, as far as its type allows."""
    kind, named = spec["type"], spec.get("x-normal")
    if value is None or isinstance(value, bool):
        return value
    if kind == "array":
        items = [respelled(v, spec["items"], rng) for v in value]
        return rng.sample(items * 2, len(items) * 2) if named == "set" and 2 * len(items) <= spec["maxItems"] else items
    if kind in ("integer", "number"):
        return float(value)
    if spec.get("format") == "date-time":
        return datetime.fromisoformat(value).astimezone(timezone(timedelta(hours=rng.choice((-7, 0, 2, 5))))).isoformat()
    if named == "words":
        return " ".join(rng.sample(words := value.split(), len(words))).swapcase()
    if named == "caseless":
        return value.swapcase() if "pattern" in spec else f" {value.swapcase()}\n"
    if named == "exact" or any(word in spec for word in ("pattern", "enum", "format")):
        return value
    return f"\n {unicodedata.normalize('NFD', value)}\t"


def answered(session, tool, arguments):
    """A call's result, which must be a success or a refusal in a few words, after which the session can still be described."""
    result = session.call(tool.name, arguments)
    assert result.ok or result.code in REFUSALS
    assert result.ok or len(result.text) < 3000, f"{tool.name} echoes {len(result.text)} characters"
    json.loads(result.text)
    session.digest()
    return result


@pytest.mark.parametrize("server", SERVERS)
def test_respelling_an_argument_within_its_type_changes_neither_result_nor_outcome_nor_reward(server):
    session, rng, seen = Session.open(server, 1), Random(f"respell:{server}"), set()
    for visit in wander(session.fork(), server, 400, Random(server), mistakes=0):
        arguments = {k: respelled(v, spec_of(visit.tool, k), rng) for k, v in visit.arguments.items()}
        plain, twin = session.fork(), session.fork()
        one, two = answered(plain, visit.tool, visit.arguments), answered(twin, visit.tool, arguments)
        assert one.ok == two.ok, f"{visit.tool.name}({arguments}) -> {two.text} instead of {one.text}"
        if one.ok:
            assert one.text == two.text, f"{visit.tool.name}({arguments})"
        assert plain.outcome() == twin.outcome()
        assert plain.digest() == twin.digest()
        for name, value in visit.arguments.items():
            other = arguments[name]
            assert same_value(value, other, spec_of(visit.tool, name)), f"{visit.tool.name}({name}): {value!r}, {other!r}"
        seen.add(visit.tool.name)
        session = plain
    assert seen == set(session.tools)


@pytest.mark.parametrize("server", SERVERS)
def test_a_hostile_value_in_any_parameter_is_refused_or_means_the_same(server):
    session, rng, values = Session.open(server, 2), Random(f"hostile:{server}"), curated(server)
    for tool in session.servers[server].tools.values():
        for parameter in tool.parameters:
            try:
                good = arguments_for(session, server, tool, rng, values)
                good.setdefault(parameter.name, None)
            except NoValue:
                continue
            for value in HOSTILE:
                answered(session.fork(), tool, {**good, parameter.name: value})
            for extra in ({"x" * 100_000: 1}, {"\ud800": 1}, {"": DEEP}):
                assert answered(session.fork(), tool, {**good, **extra}).code == "invalid_argument"


@pytest.mark.parametrize("server", SERVERS)
def test_a_final_newline_or_another_scripts_digits_never_pass_a_pattern(server):
    session, rng, values = Session.open(server, 2), Random(f"newline:{server}"), curated(server)
    for tool in session.servers[server].tools.values():
        for parameter in tool.parameters:
            spec = spec_of(tool, parameter.name)
            try:
                good = arguments_for(session, server, tool, rng, values)
            except NoValue:
                continue
            value = good.get(parameter.name)
            if not isinstance(value, str) or (spec.get("x-normal") == "exact" and "pattern" not in spec):
                continue
            newline = answered(session.fork(), tool, {**good, parameter.name: value + "\n"})
            if any(word in spec for word in ("pattern", "enum", "format")):
                assert newline.code == "invalid_argument", f"{tool.name}({parameter.name}={value + chr(10)!r}) -> {newline.text}"
            else:
                assert newline.text == answered(session.fork(), tool, good).text
            if "pattern" in spec and r"\d" in spec["pattern"] and re.search(r"\d", value):
                arabic = answered(session.fork(), tool, {**good, parameter.name: value.translate(ARABIC)})
                assert arabic.code == "invalid_argument", f"{tool.name}({parameter.name}={value.translate(ARABIC)!r})"


@pytest.mark.parametrize("server", SERVERS)
def test_everything_a_tool_takes_has_a_size(server):
    def unbounded(spec):
        if "enum" in spec or spec.get("format") in ("date", "date-time") or spec["type"] == "boolean":
            return False
        if spec["type"] == "array":
            return "maxItems" not in spec or unbounded(spec["items"])
        if spec["type"] == "string":
            return "maxLength" not in spec and not re.fullmatch(r"\^[^*+]+(?<!,\})\$", spec.get("pattern", ""))
        lowest, highest = ({"minimum", "exclusiveMinimum"} & spec.keys(), {"maximum", "exclusiveMaximum"} & spec.keys())
        return not (lowest and highest)

    for tool in Session.open(server, 0).servers[server].tools.values():
        for name, spec in tool.input_schema["properties"].items():
            assert not unbounded(spec), f"{tool.name}({name})"


@pytest.mark.parametrize("server", SERVERS)
def test_no_refusal_shows_a_secret(server):
    session, rng, values = Session.open(server, 2), Random(f"secret:{server}"), curated(server)
    for tool in session.servers[server].tools.values():
        for parameter in (p for p in tool.parameters if p.secret):
            try:
                good = arguments_for(session, server, tool, rng, values)
            except NoValue:
                continue
            for secret in ("4242 4242 4242 4242", "987654321987654", "8642", "864219", 8642, ["8642"]):
                result = answered(session.fork(), tool, {**good, parameter.name: secret})
                shown = re.sub(r'"\w+_id":"[^"]*"|\w+-\d+', "", result.text)  # an id may hold the same digits
                assert result.ok or str(secret).strip("[]'") not in shown, result.text


@pytest.mark.parametrize("server", SERVERS)
def test_a_record_that_is_not_there_is_not_found_by_a_filter_too(server):
    session, rng, values = Session.open(server, 2), Random(f"unknown:{server}"), curated(server)
    it = session.servers[server]
    if type(it).look_up is not Server.look_up:
        return  # it has names for its records that depend on where one stands
    for tool in it.tools.values():
        for parameter in (p for p in tool.parameters if p.id_type in it.homes):
            try:
                good = arguments_for(session, server, tool, rng, values)
            except NoValue:
                continue
            assert session.call(tool.name, {**good, parameter.name: "nobody-0"}).code == "not_found", f"{tool.name}({parameter.name})"


TEXTS = st.text(st.characters(codec="utf-8"), max_size=12)
NAMED = [{"type": "string", "x-normal": name} for name in ("words", "caseless", "exact")]
SPECS = [{"type": "string"}, {"type": "string", "pattern": "x"}, *NAMED]


@given(TEXTS, st.sampled_from(SPECS))
@settings(max_examples=500, deadline=None)
def test_a_normal_form_is_its_own_normal_form(value, spec):
    form = form_of(spec)
    assert form is not None
    assert form(form(value)) == form(value)
    assert canonical(value, spec) == form(value)
    assert canonical([value, value], {"type": "array", "items": spec, "x-normal": "set"}) == [form(value)]


@pytest.mark.parametrize(
    ("pattern", "good", "bad"),
    [
        (r"^\d{4}$", "1234", ["1234\n", "١٢٣٤", "12345"]),
        (r"^[a-z\d_]+$", "a_1", ["a_1\n", "a_١", "é"]),
        (r"^[^@\s]+@x$", "a@x", ["a\ufeff@x", "a\u00a0@x", "a@x\n"]),
        (r"^\w+\.tar$", "a.tar", ["é.tar", "a.tar\n", "axtar"]),
        (r"^[$.]\$$", "$$", ["$$\n", "a$"]),
    ],
)
def test_a_pattern_means_what_json_schema_means_by_it(pattern, good, bad):
    assert re.search(ecma(pattern), good)
    assert not any(re.search(ecma(pattern), text) for text in bad)


def test_numbers_texts_and_instants_that_are_one_are_taken_as_one():
    session = Session.open("banking", 0)
    transfer = {"from_account": "ACC-4001", "to_account": "ACC-4003"}
    assert session.fork().call("transfer_between_accounts", {**transfer, "amount": 15.0}).ok
    assert session.fork().call("transfer_between_accounts", {**transfer, "amount": 15.5}).code == "invalid_argument"
    assert session.fork().call("transfer_between_accounts", {**transfer, "amount": "15"}).code == "invalid_argument"
    assert same_value("2026-03-04T09:30:00Z", "2026-03-04T11:30:00+02:00", {"type": "string", "format": "date-time"})
    assert not same_value("2026-03-04T09:30:00Z", "2026-03-04T09:30:01Z", {"type": "string", "format": "date-time"})
    assert same_value("Sarah Carey", "carey SARAH", {"type": "string", "x-normal": "words"})
    assert not same_value("Sarah Carey", "Sarah", {"type": "string", "x-normal": "words"})
