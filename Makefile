# make run     runs the scripted agents; needs no key and, once installed, no network; MODEL=name adds a model, MODEL=local a small real one,
#              SET=hard plays only the hard set; TRIALS= CASES= BUDGET= (USD) BASE_URL= are passed to deskbench; DRY=1 prints the forecast
#              and exits, YES=1 starts without asking
# make fork    RUN=file: plays each trap of a run ten more times from its decision; MODEL= BASE_URL= let another model continue
# make test    runs lint and the test suite       make lab     opens JupyterLab at the project's start page
# make lint    checks style, types and dependencies
# make notebooks  executes every notebook into reports/ and saves their figures and tables (make figures does the same)
# make audit   checks the case set      make bench   measures speed, as ratios      make site    builds a static site in reports/site
# make detectors   measures the detectors' recall and precision again and writes data/claims/*.csv
# make dictionary  writes docs/data-dictionary.md from the declarations of the columns
# make calibration  simulates the intervals again; writes data/calibration.yaml, and docs/limits.md (what the numbers cannot tell you)
# make reader  retrains a store's readers on its labelled sentences, STORE=name or folder (needs the extra `train`)
# make extras  installs optional parts: the local model, tau2, Inspect logs, Dask, names in chats, training, the tests; `make test` does this too
# make lock    writes requirements.lock and requirements-extras.lock from pyproject.toml
# make clean   removes the virtual environment     make help    prints this list
# make system  the only step that needs the system's package manager (root): installs libgomp1 for the small local model, Chromium for browser tests,
#              LaTeX for the tests of tables and figures in a paper, sqlite3 for repairing a damaged run file

# The newest of these versions that runs: a name on the path may be a shim for a version that is not installed.
PYTHON ?= $(shell for name in python3.13 python3.12 python3.11 python3; do \
	$$name -c "import sys; sys.exit(not (3, 11) <= sys.version_info < (3, 14))" 2>/dev/null && echo $$name && break; done)
BIN := .venv/bin
STAMP := .venv/.installed
EXTRAS := .venv/.extras
export PIP_DISABLE_PIP_VERSION_CHECK = 1

.PHONY: run fork test test-slow extras lint lab notebooks figures site audit bench dictionary detectors calibration reader lock system clean help

# Refuse a misspelled variable: make itself would silently accept BASEURL=...
KNOWN := RUN MODEL SET TRIALS CASES BUDGET BASE_URL DRY YES STORE PYTHON BIN STAMP EXTRAS
UNKNOWN := $(filter-out $(KNOWN),$(foreach name,$(.VARIABLES),$(if $(filter command,$(firstword $(origin $(name)))),$(name))))
$(if $(UNKNOWN),$(error no such variable: $(UNKNOWN); there are $(filter-out BIN STAMP EXTRAS,$(KNOWN))))

# Also refuse a variable that the target does not read.
GIVEN := $(filter-out PYTHON BIN STAMP EXTRAS,$(foreach name,$(KNOWN),$(if $(filter command,$(firstword $(origin $(name)))),$(name))))
READ_run := MODEL SET TRIALS CASES BUDGET BASE_URL DRY YES
READ_reader := STORE
READ_fork := RUN MODEL BUDGET BASE_URL DRY YES
$(foreach goal,$(or $(MAKECMDGOALS),run),$(foreach name,$(filter-out $(READ_$(goal)),$(GIVEN)),$(error make $(goal) does not read $(name)$(if \
	$(filter STORE,$(name)),: a run on a store of your own is `deskbench run MODEL --store FOLDER`))))

PLAYED = $(SET)$(if $(SET),$(if $(CASES),:))$(CASES)

run: $(if $(filter local,$(MODEL)),$(EXTRAS),$(STAMP))
	@$(BIN)/deskbench demo $(if $(PLAYED),--cases "$(PLAYED)") $(if $(TRIALS),--trials "$(TRIALS)") $(if $(MODEL),--model "$(MODEL)") \
		$(if $(BASE_URL),--base-url "$(BASE_URL)") $(if $(BUDGET),--budget-usd "$(BUDGET)") $(if $(YES),--yes) $(if $(DRY),--dry-run)

fork: $(STAMP)
	$(if $(RUN),,$(error make fork needs a run: make fork RUN=data/runs/NAME.deskbench))
	@$(BIN)/deskbench fork "$(RUN)" --traps $(if $(MODEL),--model "$(MODEL)") $(if $(BASE_URL),--base-url "$(BASE_URL)") \
		$(if $(BUDGET),--budget-usd "$(BUDGET)") $(if $(YES),--yes) $(if $(DRY),--dry-run)

test: lint
	$(BIN)/python -m pytest -n 3 --dist loadfile --no-loadscope-reorder -m "not slow"

test-slow: lint
	$(BIN)/python -m pytest -n 3 --dist loadfile --no-loadscope-reorder

extras: $(EXTRAS)

lint: $(EXTRAS)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/deptry .

lab: $(STAMP)
	$(BIN)/jupyter lab --ServerApp.root_dir="$(CURDIR)" --LabApp.default_url=/lab/tree/notebooks/00_start.ipynb $(if $(filter 0,$(shell id -u)),--allow-root)

notebooks figures: $(STAMP)
	$(BIN)/deskbench notebooks

site: $(STAMP)
	$(BIN)/deskbench site

audit: $(STAMP)
	$(BIN)/deskbench audit --sly
	$(BIN)/deskbench audit --cases hard --sly

bench: $(EXTRAS)
	$(BIN)/python -m benchmarks

dictionary: $(STAMP)
	$(BIN)/python -c "from benchmark_lib.reports.site.method import dictionary_page; print(dictionary_page(), end='')" > docs/data-dictionary.md

detectors: $(STAMP)
	$(BIN)/python -c "from benchmark_lib.extras.claims.tables import write_measured; write_measured()"

calibration: $(STAMP)
	$(BIN)/python -m benchmarks.calibration

reader: $(EXTRAS)
	$(BIN)/python -m benchmarks.readers $(STORE)

system:
	apt-get update
	apt-get install -y --no-install-recommends libgomp1 sqlite3 chromium fonts-dejavu-core texlive-latex-base texlive-latex-recommended

# Needs uv. The lock files contain no index address.
LOCK := uv pip compile pyproject.toml --universal --python-version 3.11 --no-emit-index-url --no-header --no-annotate --quiet
lock:
	$(LOCK) $(foreach name,chats local inspect tau test train dask,--extra $(name)) -o .all.lock
	$(LOCK) -c .all.lock -o requirements.lock
	LC_ALL=C sort requirements.lock > .run.lock && LC_ALL=C sort .all.lock | LC_ALL=C comm -23 - .run.lock > requirements-extras.lock
	rm .all.lock .run.lock

$(STAMP): requirements.lock pyproject.toml
	@$(if $(PYTHON),,echo "Deskbench needs Python 3.11, 3.12 or 3.13, and none is on the path: set PYTHON=/path/to/python3.13"; exit 1)
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --no-deps -r requirements.lock
	$(BIN)/pip install --quiet --no-deps -e .
	touch $(STAMP)

$(EXTRAS): $(STAMP) requirements-extras.lock
	$(BIN)/pip install --quiet --no-deps -r requirements-extras.lock
	touch $(EXTRAS)

clean:
	rm -rf .venv

help:
	@sed -n '/^#/!q; s/^# //p' Makefile
