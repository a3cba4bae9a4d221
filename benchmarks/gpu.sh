#!/usr/bin/env bash
# What a GPU says of the training path: at most nine minutes on one, with nothing but this checkout and `make gpu`'s environment.
# Random weights of Qwen3-4B's size; results go to results/gpu/. `benchmarks/gpu.sh --toy` runs all of it on a CPU, tiny.
set -euo pipefail
cd "$(dirname "$0")/.."
python="${PYTHON:-.venv-gpu/bin/python}"
export PYTHONPATH="$PWD:$PWD/tests/training${PYTHONPATH:+:$PYTHONPATH}" TRL_EXPERIMENTAL_SILENCE=1
export PYTORCH_CUDA_ALLOC_CONF="${PYTORCH_CUDA_ALLOC_CONF:-expandable_segments:True}"
exec timeout 540 "$python" benchmarks/gpu.py "$@"
