"""What a task costs through our adapters beside its benchmark's own runner, no model in either: ratios of one run, start included.

    python benchmarks/harnesses.py            # tau2 and AgentDojo
    python benchmarks/harnesses.py --tasks 50

The same ground truth or the same silence is played by both, in a process of its own each, one after the other.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time

from prove.run import results, write_json

PRELUDE = "import sys, time, os, contextlib, io\nn = int(sys.argv[1])\n"
# Each benchmark's own way to play a task, with the least that stands in for a model.
OWN = {
    "agentdojo": PRELUDE
    + """
from agentdojo.agent_pipeline.ground_truth_pipeline import GroundTruthPipeline
from agentdojo.benchmark import run_task_without_injection_tasks
from agentdojo.logging import OutputLogger
from agentdojo.task_suite.load_suites import get_suites
import tempfile
for name, suite in [(s, t) for s, t in get_suites("v1.2.2").items()]:
    for task in list(suite.user_tasks.values())[: n if name == "workspace" else 0]:
        pipeline = GroundTruthPipeline(task)
        pipeline.name = None
        with OutputLogger(None):
            run_task_without_injection_tasks(suite, pipeline, task, None, True, "v1.2.2")
""",
    "tau2": PRELUDE
    + """
from loguru import logger
with contextlib.redirect_stdout(io.StringIO()):
    from tau2.agent import llm_agent
    from tau2.data_model.message import AssistantMessage, ToolCall
    from tau2.registry import registry
    from tau2.run import run_task
    from tau2.utils.llm_utils import to_litellm_messages
logger.remove()
for task in registry.get_tasks_loader("telecom")("base")[:n]:
    left = [(a.name, a.arguments) for a in task.evaluation_criteria.actions] + [("done", {})]
    def generate(model, messages, tools=None, **settings):
        to_litellm_messages(messages), [tool.openai_schema for tool in tools or ()]  # as tau2's own does, before it asks
        name, arguments = left.pop(0)
        return AssistantMessage(role="assistant", tool_calls=[ToolCall(id="c", name=name, arguments=arguments)], cost=0.0)
    llm_agent.generate = generate
    with contextlib.redirect_stdout(io.StringIO()):
        run_task("telecom", task, "llm_agent_solo", "dummy_user", llm_agent="m", llm_args_agent={}, llm_user="m", llm_args_user={}, seed=0)
""",
}
OURS = """
import sys
from prove.benchmarks import reference
from prove.benchmarks.runner import Harness, Spec
name, subset, n = sys.argv[2], sys.argv[3], int(sys.argv[1])
harness = Harness(Spec(name, "gold", reference=True))
for task in harness.tasks(subset)[:n]:
    assert not harness.play(task, 0, {})["error"]
harness.process.stdin.close()
harness.process.wait()
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tasks", type=int, default=40, help="at most 40, which AgentDojo's largest suite has")
    parser.add_argument("--rounds", type=int, default=3, help="the fastest of so many counts")
    parser.add_argument("--record", action="store_true", help="write results/checks/harnesses.json")
    given = parser.parse_args()
    found = {}
    for name, subset in (("agentdojo", "workspace"), ("tau2", "telecom-solo")):
        with tempfile.TemporaryDirectory():
            own = [_seconds(OWN[name], str(given.tasks)) for _ in range(given.rounds)]
            ours = [_seconds(OURS, str(given.tasks), name, subset) for _ in range(given.rounds)]
        found[name] = {"tasks": given.tasks, "own_cpu_s": min(own), "ours_cpu_s": min(ours), "ratio": min(ours) / min(own)}
        print(name, json.dumps(found[name]), flush=True)
    if given.record:
        write_json(results() / "checks" / "harnesses.json", found)


def _seconds(code: str, *words: str) -> float:
    """Processor seconds of a process and its children: what other work on the machine does to the clock does not count."""
    import resource

    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    begun = time.perf_counter()
    subprocess.run([sys.executable, "-c", code, *words], check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return round(used or time.perf_counter() - begun, 2)


if __name__ == "__main__":
    main()
