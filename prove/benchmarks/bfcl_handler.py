"""What BFCL's loop asks of a model, put to a policy.

The loop hands calls to `eval`: what it sees from here has the name of a tool of the task and arguments that are literals, whatever
the policy said. A tool that is held out counts as one of the task: BFCL runs it too where a model guesses its name.
"""

import copy
import json
import keyword
from typing import Any

from bfcl_eval.constants.enums import ModelStyle
from bfcl_eval.constants.type_mappings import GORILLA_TO_OPENAPI
from bfcl_eval.model_handler.base_handler import BaseHandler
from bfcl_eval.model_handler.utils import convert_to_function_call, convert_to_tool

from prove.benchmarks.contract import Message, Policy, arguments_of, calls_of, plain


class Handler(BaseHandler):
    """One play of one task, under a name of its own: BFCL keeps a task's instances in globals by that name."""

    def __init__(self, policy: Policy, run: str, entry: dict[str, Any]) -> None:
        super().__init__(run, 0.0, f"{run}-FC", True)
        self.model_style, self.policy = ModelStyle.OPENAI_COMPLETIONS, policy
        later = [tool for tools in entry.get("missed_function", {}).values() for tool in tools]
        self.known = {tool["name"] for tool in [*entry["function"], *later]}

    def _pre_query_processing_FC(self, data: Any, entry: Any) -> Any:
        return {**data, "message": []}

    def _compile_tools(self, data: Any, entry: Any) -> Any:
        data["tools"] = convert_to_tool(copy.deepcopy(entry["function"]), GORILLA_TO_OPENAPI, self.model_style)
        return data

    def add_first_turn_message_FC(self, data: Any, messages: Any) -> Any:
        """A turn begins. A call that was not run, because another of its step could not be read, is answered first."""
        last = data["message"][-1] if data["message"] else {}
        ids = [call["id"] for call in last.get("tool_calls", ())]
        data["message"] += [{"role": "tool", "tool_call_id": i, "content": "Error: the calls could not be read."} for i in ids]
        data["message"] += messages
        return data

    _add_next_turn_user_message_FC = add_first_turn_message_FC

    def _query_FC(self, data: Any) -> Any:
        return self.policy(data["message"], data["tools"]), 0.0

    def _parse_query_response_FC(self, said: Message) -> Any:
        calls = list(calls_of(said))
        message: Message = {"role": "assistant", "content": said.get("content") or ""}
        if calls:
            message["tool_calls"] = [{"id": i, "type": "function", "function": {"name": n, "arguments": a}} for i, n, a in calls]
        step = [self._admitted(name, arguments) for _, name, arguments in calls] or plain(message["content"])
        return {"model_responses": step, "message": message, "input_token": 0, "output_token": 0}

    def _admitted(self, name: str, text: str) -> dict[str, str]:
        """The call as `eval` may see it. One of no tool of the task becomes one of nothing, which is an error of the same kind."""
        arguments = plain(arguments_of(text))
        if arguments is None:
            return {"unreadable_call": plain(text)}  # as with BFCL's own handlers, no call of the step runs then
        if name not in self.known:
            return {"unknown_tool": "{}"}
        legal = all(key.isidentifier() and not keyword.iskeyword(key) for key in arguments)
        return {name: json.dumps(arguments)} if legal else {"unknown_argument": "{}"}

    def _add_assistant_message_FC(self, data: Any, response: Any) -> Any:
        data["message"].append(response["message"])
        return data

    def _add_execution_results_FC(self, data: Any, results: Any, response: Any) -> Any:
        for call, result in zip(response["message"]["tool_calls"], results, strict=True):
            data["message"].append({"role": "tool", "tool_call_id": call["id"], "content": result})
        return data

    def decode_execute(self, result: Any, has_tool_call_tag: bool = False) -> Any:
        if isinstance(result, str):
            raise ValueError("words, and no call")
        return convert_to_function_call(result)
