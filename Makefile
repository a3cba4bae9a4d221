# Two commands do all the set-up: `make reproduce` and `make test`. Each makes its own virtual environment first.

PROFILE ?= small
GPU     := $(filter paper transfer,$(PROFILE))
VENV    ?= $(if $(GPU),.venv-gpu,.venv)
PYTHON  ?= $(shell command -v python3.11 || command -v python3)
BIN     := $(VENV)/bin
NODE    := .cache/conformance
CPU     := https://download.pytorch.org/whl/cpu

UV      := uv pip compile --quiet --python-version 3.11 --python-platform x86_64-manylinux_2_28 --no-header --no-annotate

.PHONY: reproduce test docs bench-env bench-gold conformance figures lab lock torch gpu gpu-lock gpu-check clean

reproduce: $(VENV)/.installed  ## the main job: data, training, evaluation, tables and figures (PROFILE=smoke|small|paper|transfer)
	$(BIN)/python -m prove.reproduce --profile $(PROFILE)

test: $(VENV)/.installed  ## lint, types and all tests
	$(BIN)/ruff check prove servers tests benchmarks
	$(BIN)/mypy
	$(BIN)/pytest -n 2

docs: $(VENV)/.installed  ## the documentation as a site, in site/
	$(BIN)/mkdocs build --strict

bench-env: $(VENV)/.benchmarks  ## tau2, T-Eval and AgentDojo beside BFCL, in the same environment (560 MB)

bench-gold: $(VENV)/.benchmarks  ## the ground truth and doing nothing through every benchmark, whole (TEVAL=folder of its data)
	$(BIN)/python benchmarks/gold.py --workers 2 --teval "$(TEVAL)"

conformance: $(VENV)/.installed $(NODE)/.installed  ## the MCP protocol's public suite, its Inspector, public servers (Linux x64, npm)
	$(BIN)/python tests/conformance/run.py $(NODE)

figures: $(VENV)/.installed  ## draw tables and figures again from results/numbers.json
	$(BIN)/prove figures

lab: $(VENV)/.installed  ## JupyterLab in this environment
	$(BIN)/jupyter lab notebooks

gpu: .venv-gpu/.installed  ## the environment for GPUs (.venv-gpu), with vLLM; only on a machine that has one

gpu-lock: $(VENV)/.installed  ## let the installer choose the versions of the environment for GPUs; nothing is installed
	$(BIN)/$(UV) pyproject.toml --extra gpu --extra dev -o requirements-gpu.lock

gpu-check: $(VENV)/.installed  ## a dry run: the versions of the environment for GPUs exist and go together; nothing is downloaded
	$(BIN)/$(UV) pyproject.toml --extra gpu --extra dev --constraint requirements-gpu.lock -o $(VENV)/gpu-check.txt
	diff requirements-gpu.lock $(VENV)/gpu-check.txt

lock: $(VENV)/.installed  ## write down the versions that are installed
	$(BIN)/pip freeze --all --exclude-editable | grep -v '^pip==' | grep -vixFf requirements-bfcl.lock -f requirements-bench.lock \
		| sed 's/+cpu$$//' > requirements.lock

# PyTorch's default build for Linux brings several GB of CUDA libraries, which a machine without a GPU has no use for.
torch:
	@if [ "$$(uname)" = Linux ] && ! nvidia-smi -L > /dev/null 2>&1 \
		&& $(BIN)/pip install --quiet --retries 0 --timeout 15 --no-deps --index-url $(CPU) $$(grep ^torch== requirements.lock) 2> /dev/null; \
	then echo "PyTorch: its CPU build, for there is no GPU here"; \
	else echo "PyTorch: its default build, for there is a GPU, this is not Linux, or $(CPU) does not answer"; fi

clean:  ## forget the environment; results stay
	rm -rf .venv .venv-gpu

.venv-gpu/.installed: requirements-gpu.lock pyproject.toml
	@nvidia-smi -L > /dev/null 2>&1 || { echo "make gpu: this machine has no NVIDIA GPU (nvidia-smi -L finds none); the CUDA packages are not fetched"; exit 1; }
	$(PYTHON) -m venv .venv-gpu
	.venv-gpu/bin/pip install --quiet --disable-pip-version-check -r requirements-gpu.lock
	.venv-gpu/bin/pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	touch $@

# What benchmarks need is pinned whole and installed without asking for more: they name versions that share no environment with ours,
# and work with ours.
ifneq ($(VENV),.venv-gpu)
$(VENV)/.installed: requirements.lock requirements-bfcl.lock pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "PROVE needs Python 3.11 or newer: make PYTHON=/path/to/python3.11")'
	$(PYTHON) -m venv $(@D)
	@$(MAKE) --no-print-directory torch VENV=$(@D)
	$(@D)/bin/pip install --quiet --disable-pip-version-check -r requirements.lock
	$(@D)/bin/pip install --quiet --disable-pip-version-check --no-deps -r requirements-bfcl.lock
	$(@D)/bin/pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	touch $@
endif

$(VENV)/.benchmarks: $(VENV)/.installed requirements-bench.lock
	$(BIN)/pip install --quiet --disable-pip-version-check --no-deps -r requirements-bench.lock
	touch $@

$(NODE)/.installed: tests/conformance/package.json
	mkdir -p $(NODE)
	cp $< $(NODE)/
	npm install --prefix $(NODE) --no-audit --no-fund --no-package-lock
	touch $@
