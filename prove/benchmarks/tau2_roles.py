"""Who speaks in tau2: policies in place of its language models, and a script where there is none."""

from typing import Any

from tau2 import config
from tau2.data_model.message import AssistantMessage, ToolCall
from tau2.utils.llm_utils import to_litellm_messages

from prove.benchmarks.contract import Message, Policy, arguments_of, calls_of, plain, say


class Script:
    """The ground truth of a task as an agent and a user play it, and of any task a user who states the case and leaves."""

    def __init__(self, task: Any, solo: bool = False, gold: bool = False) -> None:
        self.task, self.solo = task, solo
        self.left = list(task.evaluation_criteria.actions or []) if gold else []

    def agent(self, messages: list[Message], tools: list[dict[str, Any]]) -> Message:
        if self.left and (self.solo or self.left[0].requestor == "assistant"):
            action = self.left.pop(0)
            return say("", (action.name, action.arguments))
        if self.solo:
            return say("", ("done", {}))
        return say("Please do that." if self.left else "; ".join(self.task.evaluation_criteria.communicate_info or []) or "Done.")

    def user(self, messages: list[Message], tools: list[dict[str, Any]]) -> Message:
        if not any(m["role"] == "assistant" for m in messages):
            return say(str(self.task.user_scenario.instructions))
        if self.left and self.left[0].requestor == "user":
            action = self.left.pop(0)
            return say("", (action.name, action.arguments))
        return say("And now?" if self.left else "###STOP###")


class Unreadable(Exception):
    """A policy said what tau2's protocol has no place for: the task ends there, as a failure of the agent."""


def transport(policy: Policy, made: list[str]) -> Any:
    """What tau2 calls in place of a language model: its messages to the policy and back."""

    known: dict[int, tuple[Any, list[dict[str, Any]]]] = {}  # the schemas of a list of tools: making them is most of a step's time

    def generate(model: str, messages: list[Any], tools: list[Any] | None = None, **settings: Any) -> Any:
        asked = [{k: v for k, v in m.items() if v is not None or k == "content"} for m in to_litellm_messages(messages)]
        if id(tools) not in known:
            known[id(tools)] = tools, [tool.openai_schema for tool in tools or ()]
        _, schemas = known[id(tools)]
        for _ in range(1 + config.DEFAULT_MAX_RETRIES):  # as tau2 does, where nothing at all is said
            said = policy(asked, schemas)
            calls, content = list(calls_of(said)), plain(said.get("content") or "")
            if calls or content.strip():
                break
        else:
            raise Unreadable("the agent said nothing")
        read = [(name, plain(called), plain(arguments_of(arguments or "{}"))) for name, called, arguments in calls]
        if any(arguments is None for *_, arguments in read):
            raise Unreadable("the arguments of a call are no object")
        made.extend(called for _, called, _ in read)
        tool_calls = [ToolCall(id=i, name=called, arguments=arguments) for i, called, arguments in read]
        return AssistantMessage(role="assistant", content=content or None, tool_calls=tool_calls or None, cost=0.0)

    return generate
