"""`prove shell`: one world, and a way back from everything."""

import io
import json

import pytest

from prove.cli.shell import Shell
from prove.servers.session import Session


def said(session, *lines):
    """What the shell answers to each line, typed one after the other."""
    shell, out = Shell(session), []
    for line in lines:
        shell.stdout = io.StringIO()
        shell.onecmd(line)
        out.append(shell.stdout.getvalue())
    return out


@pytest.fixture
def bank():
    return Session.open("banking")


TRANSFER = "transfer_between_accounts from_account=ACC-4003 to_account=ACC-4001 amount=100"


def test_a_line_gives_what_a_call_gives(bank):
    (text,) = said(bank, "list_accounts kind=savings")
    assert json.loads(text) == Session.open("banking").call("list_accounts", {"kind": "savings"}).value


def test_undo_takes_back_calls_and_time_in_turn_and_nothing_else(bank):
    fresh, start = Session.open("banking"), bank.digest()
    *_, one, two, three = said(bank, TRANSFER, "list_accounts", "get_account account_id=ACC-1", "time 2d", "undo", "undo", "undo")
    assert (one, two, three) == ("undone: time 2d\n", f"undone: {TRANSFER}\n", "there is nothing to undo\n")
    assert bank.digest() == start == fresh.digest()


def test_diff_shows_what_changed_and_that_nothing_did(bank):
    before, _, after = said(bank, "diff", TRANSFER, "diff")
    assert before == "nothing has changed\n"
    balance = Session.open("banking").call("get_account", {"account_id": "ACC-4003"}).value["balance"]
    assert f"banking.accounts ACC-4003\n  balance: {balance} -> {balance - 100}\n" in after
    assert "banking.transactions" in after
    assert " is new\n" in after


def test_time_passes_as_it_does_for_an_episode(bank):
    other = Session.open("banking")
    other.advance(days=40)
    said(bank, "time 40d")
    assert bank.digest() == other.digest()


@pytest.mark.parametrize(
    ("line", "answer"),
    [
        ("transfer", "there is neither a tool nor a word 'transfer'"),
        ("get_account ACC-4003", "'ACC-4003' is not of the form name=value"),
        ('list_accounts kind="sav', "No closing quotation"),
        ("time tomorrow", "'tomorrow' is no span of time"),
        ("time 99999999d", "a world's time ends at 2200-01-01"),
        ("tools nothing", "there is no tool 'nothing'"),
        ("", ""),
    ],
)
def test_what_is_wrong_with_a_line_is_said_and_nothing_happens(bank, line, answer):
    before = bank.digest()
    (text,) = said(bank, line)
    assert text.startswith(answer)
    assert bank.digest() == before


def test_a_tool_may_be_called_like_a_word_of_the_shell():
    session = Session.open("banking")
    session.tools = {**session.tools, "undo": session.tools["list_accounts"]}
    assert '"items"' in said(session, "undo")[0]
