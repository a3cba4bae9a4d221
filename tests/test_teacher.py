"""The LLM teacher, against a real HTTP endpoint that the tests start: what it writes is certified, paid for once, and the same
again."""

import json
import os
import re
import subprocess
import sys
import threading
import time
from collections import Counter
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import combinations
from random import Random

import msgspec
import pytest

from prove.endpoint import TRIES, backoff
from prove.records import read_conversations
from prove.run import RunError
from prove.servers.session import Session
from prove.synthesis.certify import Rejected, certify, home
from prove.synthesis.data.dataset import item, read_rejects, synthesize
from prove.synthesis.data.plan import Plan
from prove.synthesis.planning.graph import build
from prove.synthesis.planning.wishes import PERSONAS
from prove.synthesis.replies import tell_truth
from prove.synthesis.teachers.llm import LLM
from prove.synthesis.teachers.llm_goals import TRIES as TRIES_OF_A_GOAL
from prove.synthesis.teachers.llm_goals import propose
from prove.synthesis.teachers.llm_judge import judge
from prove.synthesis.teachers.llm_teacher import ASKS, HOPELESS, LLMTeacher, Noting, Unspoken

PLAN = Plan(4, servers=("banking",))


class Endpoint(ThreadingHTTPServer):
    """Speaks the chat-completions protocol. `answers(messages, number)` gives a text, or (status, headers, body) as they are."""

    daemon_threads = True

    def __init__(self, answers):
        super().__init__(("127.0.0.1", 0), Handler)
        self.answers, self.asked, self.lock = answers, [], threading.Lock()
        self.url = f"http://127.0.0.1:{self.server_port}/v1"


class Handler(BaseHTTPRequestHandler):
    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        with self.server.lock:
            self.server.asked.append(body)
            number = len(self.server.asked)
        answer = self.server.answers(body["messages"], number)
        if isinstance(answer, str):
            usage = {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110}
            message = {"role": "assistant", "content": answer}
            choice = {"index": 0, "message": message, "finish_reason": "stop"}
            whole = {"id": "x", "object": "chat.completion", "created": 0, "model": body["model"], "choices": [choice], "usage": usage}
            answer = 200, {}, json.dumps(whole)
        status, headers, text = answer
        self.send_response(status)
        for name, value in ({"content-type": "application/json"} | headers).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(text.encode())

    def log_message(self, *words):
        pass


@contextmanager
def endpoint(answers):
    server = Endpoint(answers)
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()


@pytest.fixture(autouse=True)
def _own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("PROVE_CACHE", str(tmp_path / "cache"))


def drafts(messages):
    """The person's and the assistant's draft in a prompt."""
    return re.search(
        r"Person: ([^\n]*)\nAssistant: ([^\n]*)(?:\n\n|\Z)", messages[1]["content"].split("Draft of the next turn:\n")[1]
    ).groups()


def good(messages, number=0):
    user, assistant = drafts(messages)
    return "Sure!\n```json\n" + json.dumps({"user": f"Well, hello. {user} Cheers!", "assistant": f"Right then. {assistant}"}) + "\n```"


def llm(server, **settings):
    return LLM("fake-1", server.url, **({"pause": 0.01, "timeout": 5.0} | settings))


HELLO = [{"role": "user", "content": "hello"}]

# --- the endpoint


def test_the_same_question_is_asked_once_and_another_model_or_setting_is_another_question():
    with endpoint(lambda messages, number: f"answer {number}") as server:
        ask = llm(server)
        assert [ask.ask(HELLO), ask.ask(HELLO), llm(server).ask(HELLO)] == ["answer 1"] * 3
        assert llm(server, sampling={"temperature": 0.5}).ask(HELLO) == "answer 2"
        assert LLM("fake-2", server.url).ask(HELLO) == "answer 3"
        assert server.asked[1]["temperature"] == 0.5
    assert (ask.usage.answers, ask.usage.cached) == (1, 1)


def test_tokens_and_cost_are_those_that_the_endpoint_counts():
    with endpoint(lambda messages, number: "yes") as server:
        ask = llm(server, prices=(2.0, 10.0))
        for n in range(3):
            ask.ask([{"role": "user", "content": str(n)}] * 2)
        ask.ask([{"role": "user", "content": "1"}] * 2)
    assert (ask.usage.tokens_in, ask.usage.tokens_out, ask.usage.cached) == (300, 30, 1)
    assert ask.usage.cost == pytest.approx(300 * 2e-6 + 30 * 10e-6)
    assert str(ask.usage) == "3 answers (0 retries), 1 more from the cache; 300 tokens in, 30 out, cost 0.0009"


@pytest.mark.parametrize(
    "trouble",
    [
        (429, {"retry-after": "0"}, '{"error": {"message": "slow down"}}'),
        (500, {}, "oops"),
        (503, {"content-type": "text/html"}, "<html>down</html>"),
        (200, {}, '{"choices": [{"mess'),
        (200, {}, '{"object": "chat.completion", "choices": []}'),
        (200, {"content-type": "text/html"}, "<html>a login page</html>"),
    ],
    ids=["429", "500", "503", "torn JSON", "no choices", "no JSON"],
)
def test_passing_trouble_is_retried_and_counted(trouble):
    with endpoint(lambda messages, number: trouble if number < 3 else "at last") as server:
        ask = llm(server)
        assert ask.ask(HELLO) == "at last"
    assert (ask.usage.retries, ask.usage.answers, len(server.asked)) == (2, 1, 3)


def test_a_slow_answer_is_a_time_out_and_asked_for_again():
    def answers(messages, number):
        if number == 1:
            time.sleep(1.5)
        return "awake"

    with endpoint(answers) as server:
        ask = llm(server, timeout=0.4)
        assert ask.ask(HELLO) == "awake"
    assert ask.usage.retries >= 1


def test_trouble_that_lasts_ends_in_one_line_and_leaves_nothing_in_the_cache():
    with endpoint(lambda messages, number: (500, {}, "oops")) as server, pytest.raises(RunError, match=f"gave no answer in {TRIES} tries"):
        llm(server, pause=0.001).ask(HELLO)
    assert len(server.asked) == TRIES
    with endpoint(lambda messages, number: "now") as server:
        assert llm(server).ask(HELLO) == "now"


@pytest.mark.parametrize("status", [400, 401, 404])
def test_a_refusal_that_will_not_pass_is_said_at_once(status):
    with endpoint(lambda messages, number: (status, {}, '{"error": {"message": "no such model"}}')) as server:
        with pytest.raises(RunError, match=r"refuses: .*no such model"):
            llm(server).ask(HELLO)
        assert len(server.asked) == 1


def test_an_address_that_is_none_is_named():
    with pytest.raises(RunError, match="'localhost' is no endpoint"):
        LLM("fake-1", "localhost")


def test_pauses_grow_and_their_jitter_is_the_seeds():
    pauses, same, other = ([backoff(f"{seed}:key", n, 0.5) for n in range(8)] for seed in (1, 1, 2))
    assert pauses == same
    assert pauses != other
    assert all(0.25 * 2**n <= p <= 0.75 * 2**n for n, p in enumerate(pauses[:6]))
    assert max(pauses) <= 60


def test_a_torn_cache_file_is_asked_for_again():
    with endpoint(lambda messages, number: "whole") as server:
        ask = llm(server)
        ask.ask(HELLO)
        path = ask._path(HELLO)
        path.write_bytes(path.read_bytes()[:20])
        assert ask.ask(HELLO) == "whole"
        assert len(server.asked) == 2


# --- the words


def worded(server, i=0, plan=PLAN):
    return item(plan, i, LLMTeacher(llm(server)))


def test_the_words_are_the_models_and_the_plan_is_ours():
    with endpoint(good) as server:
        record, failed = worded(server)
    scripted, tried = item(PLAN, 0)
    assert failed == tried
    assert record.source == "fake-1"
    assert [(c.name, c.arguments, c.after) for c in record.calls] == [(c.name, c.arguments, c.after) for c in scripted.calls]
    assert all(t.user.startswith("Well, hello. ") and t.reply.startswith("Right then. ") for t in record.turns)
    assert record.certificate == scripted.certificate
    assert certify(msgspec.structs.replace(record, certificate=None)) == record


@pytest.mark.parametrize("kind", ["clarification", "abstention"])
def test_a_conversation_in_which_the_tool_is_missing_is_worded_too(kind):
    plan = Plan(4, servers=("banking",), mix=((kind, 1),))
    i, scripted = next((i, c) for i in range(40) if (c := item(plan, i)[0]))
    with endpoint(good) as server:
        record, _ = worded(server, i, plan)
    assert (record.kind, record.source, len(record.turns)) == (kind, "fake-1", len(scripted.turns))
    assert record.calls == scripted.calls
    assert len(server.asked) == len(record.turns)


def spoiling(change):
    """An endpoint's answers that spoil the turn which `change(user, assistant)` changes, for ever."""

    def answers(messages, number):
        user, assistant = change(*drafts(messages))
        return json.dumps({"user": user, "assistant": assistant})

    return answers


def a_turn(test, kind="banking", upto=60):
    """The first item of banking with a turn that passes a test, and its number."""
    for i in range(upto):
        record, _ = item(Plan(upto, servers=(kind,)), i)
        if record and any(test(t) for t in record.turns):
            return i, record
    raise AssertionError("no such turn")


FAULTS = {
    "no JSON": lambda messages, number: "I would rather not.",
    "empty": spoiling(lambda user, assistant: ("", assistant)),
    "too long": spoiling(lambda user, assistant: (user + " and so on" * 400, assistant)),
    "names a tool": spoiling(lambda user, assistant: (user + " Use list_accounts.", assistant)),
    "number from nowhere": spoiling(lambda user, assistant: (user + " I have 98765 of them.", assistant)),
    "phrase left out": spoiling(lambda user, assistant: ("Please do the usual.", assistant)),
    "answer left out": spoiling(lambda user, assistant: (user, "All done.")),
}


@pytest.mark.parametrize("reason", FAULTS)
def test_words_that_do_not_hold_are_asked_for_again_with_the_reason_and_then_given_up(reason):
    told = {"phrase left out": lambda t: any(c.arguments for c in t.calls), "answer left out": lambda t: bool(t.answers)}
    i, _ = a_turn(told.get(reason, lambda t: True))
    with endpoint(FAULTS[reason]) as server:
        record, failed = item(Plan(60, servers=("banking",)), i, LLMTeacher(llm(server)))
    assert record is None
    assert failed[-1] == f"teacher: {reason}"
    last = server.asked[-1]["messages"]
    assert [m["role"] for m in last] == ["system", "user", *["assistant", "user"] * (ASKS - 1)]
    assert f"That cannot be used ({reason}" in last[-1]["content"]


def test_an_amount_that_the_person_no_longer_says_is_missed_even_where_the_wish_fails():
    spoilt = []

    def answers(messages, number):
        user, assistant = drafts(messages)
        phrases = messages[1]["content"].partition("Phrases to keep word for word:")[2]
        amounts = [m[0] for m in re.finditer(r"\$\d[\d,]*(\.\d\d)?|\d[\d,]* dollars", user) if m[0] not in phrases]
        spoilt.extend(amounts)
        return json.dumps({"user": user.replace(amounts[0], "some money") if amounts else user, "assistant": assistant})

    with endpoint(answers) as server:
        i = 0
        while not spoilt:
            record, failed = worded(server, i, Plan(60, servers=("banking",)))
            i += 1
    assert record is None
    assert failed[-1] == "teacher: number left out"
    assert re.search(r"the person does not say \d+", server.asked[-1]["messages"][-1]["content"])


def test_a_model_that_tells_what_the_assistant_is_to_ask_for_is_caught():
    def is_question(t):
        return not t.calls and t.level != "complete"

    def telling(record):
        place = next(k for k, t in enumerate(record.turns) if is_question(t))
        return record.turns[place].user, record.turns[place + 1].user

    plan = Plan(200, servers=("banking",))
    for i in range(200):
        record, _ = item(plan, i)
        if record is None or not any(is_question(t) for t in record.turns):
            continue
        asks, tells = telling(record)

        def answers(messages, number, asks=asks, tells=tells):
            user, assistant = drafts(messages)
            return json.dumps({"user": f"{user} {tells}" if user == asks else user, "assistant": assistant})

        with endpoint(answers) as server:
            _, failed = item(plan, i, LLMTeacher(llm(server)))
        assert failed[-1] in ("teacher: tells too much", "teacher: number from nowhere")
        return
    raise AssertionError("no question back in 200 conversations")


def test_a_fault_that_is_mended_costs_one_more_question():
    def answers(messages, number):
        return good(messages) if len(messages) > 2 else "no"

    with endpoint(answers) as server:
        record, failed = worded(server)
    assert record is not None
    assert failed == item(PLAN, 0)[1]
    assert len(server.asked) == 2 * len(record.turns)


def test_a_model_that_never_holds_stops_the_run_instead_of_the_purse():
    with endpoint(lambda messages, number: "no") as server:
        teacher = LLMTeacher(llm(server))
        record, _ = item(PLAN, 0)
        for _ in range(HOPELESS - 1):
            with pytest.raises(Unspoken):
                teacher.reworded(record, Noting())
        with pytest.raises(RunError, match=rf"last {HOPELESS} conversations .* given up \(no JSON {HOPELESS}\)"):
            teacher.reworded(record, Noting())


# --- many


def test_threads_give_the_same_bytes_a_rerun_asks_nothing_and_another_teacher_is_another_plan(tmp_path):
    with endpoint(good) as server:
        one = synthesize(PLAN, tmp_path / "one.jsonl", teacher=LLMTeacher(llm(server)))
        asked = len(server.asked)
        again = LLMTeacher(llm(server))
        four = synthesize(PLAN, tmp_path / "four.jsonl", workers=4, teacher=again)
        assert len(server.asked) == asked
        assert again.llm.usage.answers == 0
        assert again.llm.usage.cached == asked
        with pytest.raises(RunError, match="made with other settings"):
            synthesize(PLAN, one)
        with pytest.raises(RunError, match="made with other settings"):
            synthesize(PLAN, one, teacher=LLMTeacher(LLM("fake-2", server.url)))
    assert one.read_bytes() == four.read_bytes()


def test_a_run_that_was_killed_after_its_last_conversation_asks_nothing_more(tmp_path):
    with endpoint(good) as server:
        out = synthesize(Plan(1, servers=("banking",)), tmp_path / "a.jsonl", teacher=LLMTeacher(llm(server)))
        whole, asked = out.read_bytes(), len(server.asked)
        out.rename(tmp_path / "a.jsonl.part")
        assert synthesize(Plan(1, servers=("banking",)), out, teacher=LLMTeacher(llm(server))).read_bytes() == whole
        assert len(server.asked) == asked


def test_what_was_given_up_is_counted_by_reason_beside_the_data(tmp_path):
    refused = item(PLAN, 0)[0].turns[0].user

    def answers(messages, number):
        return "no" if drafts(messages)[0] == refused else good(messages)

    with endpoint(answers) as server:
        out = synthesize(PLAN, tmp_path / "some.jsonl", teacher=LLMTeacher(llm(server)))
    assert len(read_conversations(out)) == PLAN.n
    assert not any(c.id.endswith("-000000") for c in read_conversations(out))
    assert read_rejects(out)["teacher: no JSON"] > 0


def test_from_the_command_line_conversations_are_made_and_the_rerun_asks_nothing(tmp_path):
    def prove(url, out):
        words = ["synthesize", "--servers", "banking", "-n", "3", "--teacher", url, "--teacher-model", "fake-1"]
        words += ["--prices", "1,2", "--workers", "3", "--out", str(out)]
        command = [sys.executable, "-m", "prove", *words]
        return subprocess.run(command, capture_output=True, text=True, env=os.environ | {"PROVE_CACHE": str(tmp_path / "cache")})

    with endpoint(good) as server:
        first = prove(server.url, tmp_path / "a.jsonl")
        asked = len(server.asked)
        second = prove(server.url, tmp_path / "b.jsonl")
        assert len(server.asked) == asked
    made = read_conversations(tmp_path / "a.jsonl")
    assert first.returncode == second.returncode == 0, first.stderr + second.stderr
    assert f"teacher: {asked} answers" in first.stdout
    assert f"teacher: 0 answers (0 retries), {asked} more from the cache" in second.stdout
    assert Counter(c.source for c in made) == {"fake-1": 3}
    assert (tmp_path / "a.jsonl").read_bytes() == (tmp_path / "b.jsonl").read_bytes()
    dead = prove("http://127.0.0.1:9/v1", tmp_path / "c.jsonl")
    assert dead.returncode == 0, "the cache alone is enough"
    assert "no endpoint" in prove("nowhere", tmp_path / "d.jsonl").stderr


# --- the graph's judge


def test_a_judge_that_knows_the_graph_agrees_with_it_and_one_that_guesses_does_not():
    graph = build("tutorial")

    def knowing(messages, number):
        names = [json.loads(line)["name"] for line in messages[1]["content"].splitlines()]
        found = [(a, b, graph.edges[a, b]["kind"]) for a, b in (names, names[::-1]) if graph.has_edge(a, b)]
        return json.dumps({"edges": [{"first": a, "second": b, "kind": kind} for a, b, kind in found]})

    def guessing(messages, number):
        a, b = (json.loads(line)["name"] for line in messages[1]["content"].splitlines())
        return json.dumps({"edges": [{"first": a, "second": b, "kind": "explicit"}]})

    pairs = len(graph) * (len(graph) - 1) // 2
    with endpoint(knowing) as server:
        agreement = judge(graph, llm(server))
        assert len(server.asked) == pairs
    assert (agreement.precision, agreement.recall, agreement.same_kind) == (1, 1, graph.number_of_edges())
    with endpoint(guessing) as server:
        agreement = judge(graph, LLM("fake-2", server.url))
    assert agreement.claimed == pairs
    assert agreement.both == sum(graph.has_edge(a, b) for a, b in combinations(graph.nodes, 2))
    with endpoint(lambda messages, number: "perhaps") as server:
        agreement = judge(graph, LLM("fake-3", server.url))
    assert (agreement.unreadable, agreement.precision, agreement.recall) == (pairs, None, 0)


# --- goals of the model's own


def proposing(tool, user, arguments):
    """An endpoint's answers that propose the same goal for ever."""
    return lambda messages, number: json.dumps({"user": user, "tool": tool, "arguments": arguments})


WORLD = item(Plan(1, servers=("banking",)), 0)[0].seed


def proposed(answers, queries=1):
    with endpoint(answers) as server:
        record = propose(llm(server), "banking", 3, PERSONAS[0], Random(1), queries, "banking-3-000000")
        return record, server.asked


def card():
    live = Session.open("banking", 3).servers["banking"]
    return next(c for c in live.cards if c.status == "active")


def test_a_goal_in_the_models_own_words_is_grounded_by_the_planner_and_certified():
    words = f"My bag was stolen on the bus. Please freeze the card that ends in {card().last_four}, I never want to see it used."
    record, asked = proposed(proposing("freeze_card", words, {"card_id": card().card_id}))
    assert record.turns[0].user == words
    assert [c.name for c in record.calls][-1] == "freeze_card"
    assert len(record.calls) > 1  # the look-up that leads from the words to the card
    assert certify(record).certificate is not None
    tell_truth(certify(record), home(record))
    prompt = asked[0]["messages"][1]["content"]
    assert "list_accounts: " in prompt or "list_cards: " in prompt  # what there is was shown


@pytest.mark.parametrize(
    ("reason", "tool", "user", "arguments"),
    [
        ("no such tool", "rob_bank", "Rob it.", {}),
        ("not named", "freeze_card", "Please freeze some card of mine.", {"card_id": "mine"}),
        ("no such record", "freeze_card", "Please freeze my card.", {"card_id": "CRD-9999"}),
        ("not said", "list_payees", "Who do I pay?", {"query": "Hannah"}),
    ],
)
def test_a_goal_that_the_world_does_not_know_or_the_words_do_not_say_is_rejected(reason, tool, user, arguments):
    arguments = {k: card().card_id if v == "mine" else v for k, v in arguments.items()}
    with endpoint(proposing(tool, user, arguments)) as server:
        with pytest.raises(Rejected, match=reason):
            propose(llm(server), "banking", 3, PERSONAS[0], Random(1), 1, "x")
        assert len(server.asked) == TRIES_OF_A_GOAL
        assert reason in server.asked[-1]["messages"][-1]["content"]


def test_an_item_may_be_the_models_in_goal_and_words():
    words = f"I lost my wallet. Please freeze the card that ends in {card().last_four}."
    with endpoint(proposing("freeze_card", words, {"card_id": card().card_id})) as server:
        teacher = LLMTeacher(llm(server), goals=1.0)
        made, failed = item(Plan(4, servers=("banking",)), 0, teacher)
    assert made is None  # what is frozen is not frozen twice, and a conversation has two queries
    assert failed
    assert teacher.settings["goals"] == 1.0


def test_two_goals_of_the_models_make_a_certified_item_whose_cost_was_told_before():
    live = Session.open("banking", WORLD).servers["banking"]
    card = next(c for c in live.cards if c.status == "active" and sum(c.last_four == other.last_four for other in live.cards) == 1)
    words = [f"I lost my wallet. Please freeze the card that ends in {card.last_four}.", "Please save Ada Bright, 5550001111, as a payee."]
    goals = [("freeze_card", {"card_id": card.card_id}), ("add_payee", {"name": "Ada Bright", "account_number": "5550001111"})]

    def answers(messages, number):
        said, (tool, arguments) = words["So far:" in messages[1]["content"]], goals["So far:" in messages[1]["content"]]
        return json.dumps({"user": said, "tool": tool, "arguments": arguments})

    plan = Plan(1, servers=("banking",))
    like = item(plan, 0)[0]
    assert like.seed == WORLD
    with endpoint(answers) as server:
        teacher = LLMTeacher(llm(server), goals=1.0)
        guess = teacher.estimate([like], 1)
        assert server.asked == []
        made, failed = item(plan, 0, teacher)
        letters = sum(len(m["content"]) for body in server.asked for m in body["messages"])
    assert [turn.user for turn in made.turns] == words
    assert (made.certificate is not None, failed) == (True, [])
    assert guess.answers == teacher.llm.usage.answers == 2
    assert 0.7 < guess.tokens_in * 4 / letters < 1.3


def test_the_cost_is_told_before_it_is_paid():
    like = [made for i in range(4) if (made := item(PLAN, i)[0])]
    with endpoint(good) as server:
        teacher = LLMTeacher(llm(server, prices=(2.0, 10.0)))
        guess = teacher.estimate(like, len(like))
        assert server.asked == []
        for i in range(4):
            item(PLAN, i, teacher)
    assert guess.answers == teacher.llm.usage.answers
    letters = sum(len(m["content"]) for body in server.asked for m in body["messages"])
    assert 0.8 < guess.tokens_in * 4 / letters < 1.2
    assert guess.cost == pytest.approx((guess.tokens_in * 2.0 + guess.tokens_out * 10.0) / 1e6)
    assert str(teacher.estimate(like, 1000 * len(like))).startswith(f"about {1000 * guess.answers:,} answers")
    with pytest.raises(LookupError, match="no conversation"):
        teacher.estimate([], 5)


def test_the_model_sees_what_the_calls_return():
    with endpoint(good) as server:
        worded(server)
    prompts = [body["messages"][1]["content"] for body in server.asked]
    assert any("What the assistant finds out in this turn:\n- " in p for p in prompts)
