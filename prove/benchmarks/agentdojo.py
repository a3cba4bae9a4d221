"""AgentDojo (Debenedetti et al., 2024) by PyPI `agentdojo`: its own pipeline, suites and judgement of utility, without any attack."""

import contextlib
import io
import json
import logging
from collections.abc import Sequence
from functools import cache
from importlib.metadata import version
from typing import Any

from prove.benchmarks.contract import Message, NotInstalled, Outcome, Policy, arguments_of, calls_of, plain, say

try:
    from agentdojo.agent_pipeline.agent_pipeline import AgentPipeline, PipelineConfig
    from agentdojo.agent_pipeline.base_pipeline_element import BasePipelineElement
    from agentdojo.functions_runtime import FunctionCall
    from agentdojo.task_suite.load_suites import get_suites
    from agentdojo.types import ChatAssistantMessage, get_text_content_as_str, text_content_block_from_string
except ImportError as missing:
    raise NotInstalled(f"agentdojo needs the package agentdojo ({missing}): make bench-env") from None

RELEASE = "v1.2.2"  # of its tasks
logging.disable(logging.CRITICAL)


class AgentDojo:
    """The 97 user tasks; a subset is a suite: workspace, travel, banking or slack."""

    def __init__(self) -> None:
        self.version = version("agentdojo")
        self.about: dict[str, Any] = {"tasks": RELEASE, "attack": "none", "defense": "none"}

    def tasks(self, subset: str) -> list[str]:
        suites = get_suites(RELEASE)
        if subset and subset not in suites:
            raise LookupError(f"agentdojo has no subset {subset!r}; there are: {', '.join(suites)}")
        return [f"{name}:{task}" for name in ([subset] if subset else suites) for task in suites[name].user_tasks]

    def play(self, task: str, trial: int, agent: Policy, user: Policy | None) -> Outcome:
        suite, known = _find(task)
        llm = _Policy(agent)
        config = PipelineConfig(llm=llm, model_id=None, defense=None, system_message_name=None, system_message=None)
        with contextlib.redirect_stdout(io.StringIO()):
            useful, _ = suite.run_task_with_pipeline(AgentPipeline.from_config(config), known, injection_task=None, injections={})
        return Outcome(float(useful), {suite.name: float(useful)}, "" if useful else "not as asked", llm.calls, llm.messages)

    def gold(self, task: str) -> Policy:
        suite, known = _find(task)
        world = known.init_environment(suite.load_and_inject_default_environment({}))
        calls = [(call.function, json.loads(json.dumps(dict(call.args), default=str))) for call in known.ground_truth(world)]

        def policy(messages: list[Message], tools: list[dict[str, Any]]) -> Message:
            if calls and messages[-1]["role"] == "user":
                return say("", *calls)
            return say(str(known.GROUND_TRUTH_OUTPUT))

        return policy


class _Policy(BasePipelineElement):
    """A policy in the place of AgentDojo's language model."""

    name = "policy"

    def __init__(self, policy: Policy) -> None:
        self.policy, self.calls = policy, 0
        self.schemas: list[dict[str, Any]] = []
        self.messages: list[Message] = []  # of the play, when it is over

    def query(self, query: str, runtime: Any, env: Any = None, messages: Sequence[Any] = (), extra_args: Any = None) -> Any:
        asked = [_as_openai(message) for message in messages]
        self.schemas = self.schemas or [_schema(tool) for tool in runtime.functions.values()]
        said = self.policy(asked, self.schemas)
        calls = [_call(*call) for call in calls_of(said)]
        self.calls += len(calls)
        content = [text_content_block_from_string(plain(said.get("content") or ""))]
        answer = ChatAssistantMessage(role="assistant", content=content, tool_calls=calls or None)
        self.messages = [*asked, _as_openai(answer)]
        return query, runtime, env, [*messages, answer], extra_args or {}


def _call(name: str, function: str, text: str) -> Any:
    """A call as AgentDojo takes it. What cannot be read is one of a tool that it does not know, and it says so."""
    arguments = plain(arguments_of(text or "{}"))
    if arguments is None:
        return FunctionCall(function=f"{plain(function)} (arguments that are no object)", args={}, id=plain(name))
    return FunctionCall(function=plain(function), args=arguments, id=plain(name))


def _as_openai(message: Any) -> Message:
    content = get_text_content_as_str(message["content"] or [])
    if message["role"] == "tool":
        return {"role": "tool", "tool_call_id": message["tool_call_id"], "content": message["error"] or content}
    plain_message: Message = {"role": message["role"], "content": content}
    if message["role"] == "assistant" and message["tool_calls"]:
        plain_message["tool_calls"] = [
            {"id": call.id, "type": "function", "function": {"name": call.function, "arguments": json.dumps(dict(call.args))}}
            for call in message["tool_calls"]
        ]
    return plain_message


def _schema(tool: Any) -> dict[str, Any]:
    parameters = tool.parameters.model_json_schema()
    return {"type": "function", "function": {"name": tool.name, "description": tool.description, "parameters": parameters}}


@cache
def _find(task: str) -> Any:
    suite, _, name = task.partition(":")
    found = get_suites(RELEASE)[suite]
    return found, found.user_tasks[name]
