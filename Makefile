# Two commands do all the set-up: `make reproduce` and `make test`. Each makes its own virtual environment first.

VENV    ?= .venv
PYTHON  ?= $(shell command -v python3.11 || command -v python3)
PROFILE ?= small
BIN     := $(VENV)/bin
NODE    := .cache/conformance

.PHONY: reproduce test bench-env bench-gold conformance figures lab lint lock clean

reproduce: $(VENV)/.installed  ## the main job: data, training, evaluation, tables and figures (PROFILE=smoke|small|paper|transfer)
	$(BIN)/python -m prove.reproduce --profile $(PROFILE)

test: $(VENV)/.installed  ## lint, types and all tests
	$(BIN)/ruff check prove servers tests benchmarks
	$(BIN)/mypy
	$(BIN)/pytest -n 2

bench-env: $(VENV)/.benchmarks  ## tau2, T-Eval and AgentDojo beside BFCL, in the same environment (560 MB)

bench-gold: $(VENV)/.benchmarks  ## the ground truth and doing nothing through every benchmark, whole (TEVAL=folder of its data)
	$(BIN)/python benchmarks/gold.py --workers 2 --teval "$(TEVAL)"

conformance: $(VENV)/.installed $(NODE)/.installed  ## the MCP protocol's public suite, its Inspector, public servers (Linux x64, npm)
	$(BIN)/python tests/conformance/run.py $(NODE)

figures: $(VENV)/.installed  ## draw tables and figures again from results/numbers.json
	$(BIN)/prove figures

lab: $(VENV)/.installed  ## JupyterLab in this environment
	$(BIN)/jupyter lab notebooks

lock: $(VENV)/.installed  ## write down the versions that are installed
	$(BIN)/pip freeze --all --exclude-editable | grep -v '^pip==' | grep -vixFf requirements-bfcl.lock -f requirements-bench.lock \
		| sed 's/+cpu$$//' > requirements.lock

clean:  ## forget the environment; results stay
	rm -rf $(VENV)

# What benchmarks need is pinned whole and installed without asking for more: they name versions that share no environment with ours,
# and work with ours.
$(VENV)/.installed: requirements.lock requirements-bfcl.lock pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "PROVE needs Python 3.11 or newer: make PYTHON=/path/to/python3.11")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check -r requirements.lock
	$(BIN)/pip install --quiet --disable-pip-version-check --no-deps -r requirements-bfcl.lock
	$(BIN)/pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	touch $@

$(VENV)/.benchmarks: $(VENV)/.installed requirements-bench.lock
	$(BIN)/pip install --quiet --disable-pip-version-check --no-deps -r requirements-bench.lock
	touch $@

$(NODE)/.installed: tests/conformance/package.json
	mkdir -p $(NODE)
	cp $< $(NODE)/
	npm install --prefix $(NODE) --no-audit --no-fund --no-package-lock
	touch $@
