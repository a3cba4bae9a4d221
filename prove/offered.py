"""What a conversation puts before a model: a prompt, tools, and the live world in which they run."""

from datetime import date
from typing import Any

from prove.records import Conversation
from prove.servers.session import Session

SYSTEM = "You are an assistant who acts for the user through tools. Today is {today}."


def system_prompt(conversation: Conversation) -> str:
    """What the assistant is told before anybody speaks: its task, the day, and the rules that it has to keep, if there are any."""
    prompt = SYSTEM.format(today=_long_date(conversation.today))
    return f"{prompt}\n\n{conversation.policy}" if conversation.policy else prompt


def open_session(conversation: Conversation) -> Session:
    """A fresh session on the conversation's world, in which only its candidate tools can be called."""
    others = [d.split(".")[0] for d in conversation.distractors]
    session = Session.open([*conversation.homes, *others], conversation.seed)
    session.only = frozenset(candidate_names(conversation, session))
    return session


def candidate_names(conversation: Conversation, session: Session) -> list[str]:
    """The names under which the conversation's tools and distractors are called, sorted."""
    others = {tuple(d.split(".")) for d in conversation.distractors}
    mine = {name for name, (home, tool) in session.tools.items() if name in conversation.tools or (home, tool.name) in others}
    return sorted(mine)


def candidate_schemas(conversation: Conversation, session: Session) -> dict[str, dict[str, Any]]:
    """The schema of each candidate tool, its enums taken out where the record says so."""
    schemas = {name: session.tools[name][1].input_schema for name in candidate_names(conversation, session)}
    return {name: without_enums(s) for name, s in schemas.items()} if conversation.stripped_enums else schemas


def without_enums(schema: Any) -> Any:
    """A schema in which a closed choice reads as a plain string."""
    if isinstance(schema, dict):
        return {k: without_enums(v) for k, v in schema.items() if k != "enum"}
    return [without_enums(item) for item in schema] if isinstance(schema, list) else schema


def as_function(session: Session, name: str, schema: dict[str, Any]) -> dict[str, Any]:
    """A candidate tool in the chat-completions format."""
    return {"type": "function", "function": {"name": name, "description": session.tools[name][1].description, "parameters": schema}}


def _long_date(day: str) -> str:
    return f"{date.fromisoformat(day):%A, %B %-d, %Y}"
