"""What a model says is recorded and answered, whatever it says: JSON is read as strictly as it can be written."""

import json
import math

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from prove.episode import Episode, Reply, ToolCall, legible
from prove.policies import Endpoint, Script, parse_arguments
from prove.rewards.messages import read_trajectories
from prove.rewards.reward import reward
from prove.strict_json import DEPTH, escaped, fault, loads, nests_deeper_than
from prove.synthesis.data.dataset import item
from prove.synthesis.data.plan import Plan
from prove.training.rendering import read_reply, write_reply

ANYTHING = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(st.characters(), max_size=5)
    | st.sampled_from(["\ud83d", "\udfff", "\\ud83d"]),
    lambda x: st.lists(x, max_size=3) | st.dictionaries(st.text(max_size=3) | st.just("\ud800"), x, max_size=3),
    max_leaves=8,
)
law = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow], max_examples=200)  # however busy the machine is


def conversation():
    return next(c for c in (item(Plan(1, servers=("banking",)), i)[0] for i in range(9)) if c)


@law
@given(ANYTHING)
def test_what_is_read_can_be_written_and_what_cannot_be_written_is_not_read(value):
    if fault(value):
        with pytest.raises(ValueError, match="it holds"):
            loads(json.dumps(value))
    else:
        again = loads(json.dumps(value))
        assert msgspec.json.decode(msgspec.json.encode(again)) == again == value


@law
@given(st.text(st.characters(), max_size=9), st.text(st.characters(), max_size=9), ANYTHING)
def test_whatever_a_policy_replies_is_recorded_and_answered(content, name, arguments):
    reply = legible(Reply(content, [ToolCall(name, arguments)]))
    assert msgspec.json.decode(msgspec.json.encode(reply), type=Reply) == reply == legible(reply)
    assert write_reply(Reply(content, [ToolCall(name, arguments)])).encode()


DEEP = f"deeper than {DEPTH} levels"
UNREAD = (DEEP, "Expecting")  # by Python's own reader too
BROKEN = [
    ('{"kind":"\\ud83d"}', "half of a surrogate pair"),
    ('{"\\ud83d":1}', "half of a surrogate pair"),
    ('{"kind":["a",{"b":"\\udc00 x"}]}', "half of a surrogate pair"),
    ('{"kind":"\ud83d"}', "half of a surrogate pair"),
    ('{"amount":NaN}', "NaN"),
    ('{"amount":-Infinity}', "-Infinity"),
    ('{"amount":1e400}', "it holds"),
    ('{"a":' * 5000 + "1" + "}" * 5000, DEEP),
    ('{"kind" \ud83d}', "Expecting"),
    ("[1]", "not an object"),
]


@pytest.mark.parametrize(("text", "why"), BROKEN)
def test_broken_arguments_are_an_unreadable_call_that_is_recorded_and_answered_through_every_policy(text, why):
    hermes = f'<tool_call>{{"name":"list_accounts","arguments":{text}}}</tool_call>'
    scripted = [[ToolCall("list_accounts", json.loads(text))]] if why not in UNREAD else []
    for calls in (*scripted, [ToolCall("list_accounts", parse_arguments(text))], read_reply(hermes).calls):
        episode = Episode(conversation())
        (reply,) = Script(lambda e, calls=calls: Reply("", calls)).reply([episode])
        episode.step(reply)
        episode.step(Reply("", [ToolCall("list_accounts", {})]))
        assert (episode.calls[0].arguments, episode.calls[0].ok, episode.calls[1].ok) == (None, False, True)
        assert "the call is not readable" in episode.results[0].text
        assert why in episode.results[0].text
        recorded = msgspec.json.encode(episode.messages)
        assert msgspec.json.decode(recorded) == episode.messages
        reward(episode.trajectory())


@pytest.mark.parametrize(
    "reply", [Reply("", [ToolCall("list_\ud83d", {})]), Reply("say \udc00"), read_reply("say \udc00 <tool_call>\ud83d")]
)
def test_half_of_a_pair_in_a_name_or_a_text_is_spelled_out(reply):
    episode = Episode(conversation())
    episode.step(reply)
    assert b"\\\\ud" in msgspec.json.encode(episode.messages)
    assert all(not call.ok for call in episode.calls)
    assert all("half of a surrogate pair" in r.text or "Expecting value" in r.text for r in episode.results)


def test_through_an_endpoint_too_and_what_is_sent_back_to_it_is_json():
    class Answers:
        """An OpenAI client whose model says one half of a pair after the other."""

        def __init__(self):
            self.chat = self.completions = self
            self.sent = []

        def create(self, messages, **_):
            self.sent.append(json.dumps(messages, ensure_ascii=False).encode())
            said = (
                {"name": "list_\ud83d", "arguments": "{}"}
                if len(self.sent) == 1
                else {"name": "list_accounts", "arguments": '{"kind":"\\ud83d"}'}
            )
            call = type("Call", (), {"id": "c1", "type": "function", "function": type("Function", (), said)})
            message = type("Message", (), {"content": "\udc00", "tool_calls": [call]})
            return type("Answer", (), {"choices": [type("Choice", (), {"message": message})], "usage": None})

    endpoint = Endpoint("model", "http://127.0.0.1:9", concurrency=1)
    endpoint.client = Answers()
    episode = Episode(conversation())
    for _ in range(3):
        episode.step(endpoint.reply([episode])[0])
    assert [(call.name, call.arguments) for call in episode.calls] == [("", None)] + [("list_accounts", None)] * 2
    assert len(endpoint.client.sent) == 3
    names = [c["function"]["name"] for m in json.loads(endpoint.client.sent[-1]) for c in m.get("tool_calls", [])]
    assert names == ["unreadable", "list_accounts"]


def test_recorded_messages_with_half_of_a_pair_are_unreadable_calls(tmp_path):
    calls = [("f", '{"x":"\\ud83d"}'), ("f", {"x": "\ud83d"}), ("f", '{"x":NaN}'), ("f", '{"x":1}'), ("\ud83d", "{}")]
    asked = [{"id": f"{i}", "function": {"name": n, "arguments": a}} for i, (n, a) in enumerate(calls)]
    answers = [{"role": "tool", "tool_call_id": f"{i}", "content": "{}"} for i in range(len(calls))]
    tools = [{"name": "f", "parameters": {"properties": {"x": {"type": "string"}}}}]
    line = {
        "tools": tools,
        "messages": [{"role": "assistant", "tool_calls": asked}, *answers],
        "ground_truth": [{"name": "f", "arguments": {}}],
    }
    (tmp_path / "messages.jsonl").write_text(json.dumps(line))
    (trajectory,) = read_trajectories(tmp_path / "messages.jsonl")
    assert [(c.name, c.arguments, c.ok) for c in trajectory.calls] == [("f", None, False)] * 3 + [
        ("f", {"x": 1}, True),
        ("\\ud83d", {}, True),
    ]
    assert math.isfinite(reward(trajectory))


def test_only_half_of_a_pair_is_spelled_out():
    assert escaped("a \U0001f600 é \\ud83d") == "a \U0001f600 é \\ud83d"
    assert escaped("\ud83d\ude00") == "\\ud83d\\ude00"


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])  # a law, however busy the machine is
@given(
    st.recursive(st.integers() | st.text('[]{}"\\ax'), lambda x: st.lists(x, max_size=3) | st.dictionaries(st.text("[{\\"), x, max_size=3))
)
def test_the_depth_of_json_is_counted_right_whatever_its_strings_hold(value):
    def depth(v):
        inside = v.values() if isinstance(v, dict) else v if isinstance(v, list) else None
        return 0 if inside is None else 1 + max(map(depth, inside), default=0)

    text = json.dumps(value).encode()
    assert [nests_deeper_than(limit, text) for limit in range(6)] == [depth(value) > limit for limit in range(6)]


def test_counting_depth_takes_time_in_proportion_to_the_text_even_for_strings_that_never_end():
    assert nests_deeper_than(32, b'"' + b'\\"' * 1_000_000 + b'"' + b"[" * 40)
    assert not nests_deeper_than(32, b'"' + b'\\"' * 1_000_000 + b"[" * 40)
