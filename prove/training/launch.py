"""How a stage's process is started: alone, or as one process a GPU on one machine or several, by `accelerate launch`.

What is started ends with who started it: a notebook that is killed leaves no training behind.
"""

import os
import signal
import sys
import threading
import time
from pathlib import Path
from typing import Any

import msgspec

from prove.run import RunError

PARENT = "PROVE_PARENT"  # the environment variable that names the process with which a child ends
LAYOUT = "PROVE_LAYOUT"  # and the one that says how it was started
GRACE = 20.0  # seconds that a launcher has to end its processes
LAST_WORDS = "prove stopped: "  # what a process says before the reason for which it ends


class Layout(msgspec.Struct, frozen=True):
    """Where a stage runs. It changes how long a run takes, not what comes of it, and so is no part of a run's name."""

    processes: int = 1  # on each machine
    gpu: bool = False  # one GPU a process; else all of them compute on the CPU
    nodes: int = 1
    node: int = 0  # which of the machines this is; 0 writes
    rendezvous: str = ""  # HOST:PORT of machine 0
    sharded: bool = False  # FSDP2: each process holds its share of weights, gradients and optimiser; else DDP, each holds all
    rows: int = 0  # rollouts whose activations a process holds at once; 0: as the profile says
    wandb: bool = False  # tell Weights & Biases, too

    @property
    def world(self) -> int:
        """Processes in all."""
        return self.processes * self.nodes

    def __str__(self) -> str:
        if self.world == 1:
            return "one GPU" if self.gpu else "the CPU"
        machines = f" on {self.nodes} machines" if self.nodes > 1 else ""
        device = "GPUs" if self.gpu else "CPU processes"
        return f"{self.world} {device}{machines}, {'FSDP2: sharded' if self.sharded else 'DDP: one copy each'}"


def choose(
    gpus: int | None, full: bool, nodes: int = 1, node: int = 0, rendezvous: str = "", wandb: bool = False, most: int = 64
) -> Layout:
    """The layout of `gpus` on each machine: None for all there are (`most` of them), 0 for the CPU. Full training on several is
    sharded.

    Raises `RunError` for more GPUs than there are, and for machines that cannot find each other.
    """
    import torch

    there = torch.cuda.device_count()
    wanted = min(there, most) if gpus is None else gpus
    if wanted > there:
        raise RunError(f"this machine has {there} GPUs, not {wanted}: say `--gpus {there}`" + ("" if there else ", or leave it out"))
    if nodes > 1 and not (rendezvous.count(":") == 1 and rendezvous.rpartition(":")[2].isdecimal()):
        raise RunError(f"{nodes} machines need `--rendezvous HOST:PORT`, where machine 0 can be reached by all; got {rendezvous!r}")
    if not 0 <= node < nodes:
        raise RunError(f"machine {node} is not one of 0 to {nodes - 1}")
    processes = max(1, wanted)
    return Layout(processes, wanted > 0, nodes, node, rendezvous, full and processes * nodes > 1, wandb=wandb)


def command(run: Path, layout: Layout) -> list[str]:
    """What to start for a run."""
    module = "prove.training.job" if layout.world == 1 else "prove.training.launch"
    return [sys.executable, "-m", module, str(run)]


def environment(layout: Layout) -> dict[str, str]:
    """The environment of what is started: it ends with this process, and sees the device it is to use."""
    more = {PARENT: str(os.getpid()), LAYOUT: msgspec.json.encode(layout).decode()}
    more |= {"ACCELERATE_USE_CPU": str(not layout.gpu).lower(), "TRL_EXPERIMENTAL_SILENCE": "1"}
    if layout.world > 1:
        more["OMP_NUM_THREADS"] = os.environ.get("OMP_NUM_THREADS", str(max(1, (os.cpu_count() or 1) // layout.processes)))
    return {**os.environ, **more}


def arguments(run: Path, layout: Layout) -> list[str]:
    """The words of `accelerate launch`."""
    host, _, port = layout.rendezvous.partition(":")
    words = ["--num_processes", str(layout.world), "--num_machines", str(layout.nodes), "--machine_rank", str(layout.node)]
    words += ["--main_process_ip", host, "--main_process_port", port] if layout.nodes > 1 else ["--main_process_port", "0"]
    words += ["--mixed_precision", "bf16" if layout.gpu else "no", "--dynamo_backend", "no", "--same_network"]
    if layout.sharded:
        # every process reads the weights for itself: with `cpu_ram_efficient_loading` only one would, and TRL's reference
        # model, which nobody sends round, would be empty on the others
        words += ["--use_fsdp", "--fsdp_version", "2", "--fsdp_auto_wrap_policy", "TRANSFORMER_BASED_WRAP"]
        words += ["--fsdp_state_dict_type", "SHARDED_STATE_DICT", "--fsdp_cpu_ram_efficient_loading", "false"]
    else:
        words += ["--multi_gpu"]  # one process a device, on CPUs as well: it only chooses the launcher
    return [*words, "--module", "prove.training.job", str(run)]


def given() -> Layout:
    """The layout that this process is part of; without one, a process of its own on what there is."""
    import torch

    text = os.environ.get(LAYOUT)
    return msgspec.json.decode(text, type=Layout) if text else Layout(gpu=torch.cuda.is_available())


def end_with_parent(every: float = 0.5) -> None:
    """From now on, end when the process ends that `PROVE_PARENT` names, if it is this one's parent."""
    parent = int(os.environ.get(PARENT) or 0)
    if not parent:
        return

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(every)
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(GRACE)
        os.kill(os.getpid(), signal.SIGKILL)

    threading.Thread(target=watch, name="parent", daemon=True).start()


def main(folder: Path) -> None:
    """Start the processes of a run, and wait for them."""
    from accelerate.commands.launch import launch_command, launch_command_parser

    end_with_parent()
    os.environ[PARENT] = str(os.getpid())
    words: Any = launch_command_parser().parse_args(arguments(folder, given()))
    launch_command(words)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
