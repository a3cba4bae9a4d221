"""What a reward costs: median of a trajectory, and how it grows with its calls. Run: python benchmarks/rewards.py"""

import time
from statistics import median

from prove.rewards import PAPER, Call, Findings, Step, Trajectory, effect, reward

REPEATS = 2000
TEXT = {"type": "string"}
SCHEMAS = {
    f"tool_{i}": {"type": "object", "properties": {"a": TEXT, "b": TEXT, "n": {"type": "integer", "default": 10}}, "required": ["a", "b"]}
    for i in range(20)
}


def trajectory(n_calls: int, n_steps: int, n_tools: int) -> Trajectory:
    """`n_calls` calls, the first `n_steps` of them right, spread over `n_tools` tools, each step after the one before it."""

    def made(i: int) -> tuple[str, dict[str, str]]:
        return f"tool_{i % n_tools}", {"a": f"A-{i % n_steps}", "b": "x"}

    steps = tuple(Step(*made(i), (i - 1,) if i else ()) for i in range(n_steps))
    return Trajectory(SCHEMAS, steps, tuple(Call(*made(i), True) for i in range(n_calls)), True, Findings((1.0,) * n_steps, 0.0))


def cost(it: Trajectory, weights: object, repeats: int) -> float:
    """Median microseconds of processor time of one reward: what others do on the machine does not count."""
    took = []
    for _ in range(repeats):
        begun = time.thread_time_ns()
        reward(it, weights)  # type: ignore[arg-type]
        took.append(time.thread_time_ns() - begun)
    return median(took) / 1000


def main() -> None:
    print(f"{'calls':>6}{'steps':>6}{'tools':>6}{'paper us':>10}{'effect us':>11}")
    for n_calls, n_steps, n_tools in (
        (6, 4, 4),
        (6, 4, 1),
        (25, 5, 5),
        (50, 5, 5),
        (100, 5, 5),
        (200, 5, 5),
        (200, 5, 1),
        (100, 100, 20),
        (200, 200, 20),
    ):
        it, repeats = trajectory(n_calls, n_steps, n_tools), max(20, REPEATS * 6 // n_calls)
        paper, by_effect = cost(it, PAPER, repeats), cost(it, effect, repeats)
        print(f"{n_calls:>6}{n_steps:>6}{n_tools:>6}{paper:>10.1f}{by_effect:>11.1f}")


if __name__ == "__main__":
    main()
