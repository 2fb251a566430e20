# Everything runs in .venv, which the first command makes: nothing is needed but make and Python 3.11 or newer.
# A line that begins with `##` after a target's name is what `make help` says of it.

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

# The newest Python that can make an environment. Another one: make PYTHON=/path/to/python3 ...
PYTHON ?= $(shell for each in python3.14 python3.13 python3.12 python3.11 python3 python; do \
	"$$each" -c 'import ensurepip, sys, venv; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1 && echo "$$each" && break; \
	done)
VENV := .venv
BIN := $(VENV)/bin
# Python compiles what is imported; compiling all of every package takes a third of the time of its installation.
INSTALL := -m pip --disable-pip-version-check --quiet install --no-compile
RATECARD := $(BIN)/ratecard
# The day of the prices that `make demo` shows.
DAY := 2026-10-01

# Tests start Python hundreds of times: without its compiled files each start takes almost twice as long.
export PYTHONDONTWRITEBYTECODE :=

.PHONY: help
help:  ## say what each command does
	@echo "ratecard: exact, explained prices from YAML rate tables. Commands:"
	@echo
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## */\1|/' | \
		while IFS='|' read -r name words; do printf '  make %-13s %s\n' "$$name" "$$words"; done
	@echo
	@echo "The first one makes $(VENV) and takes a minute; make PYTHON=python3.12 ... chooses the Python for it."

# The environment; made again when what it should hold has changed.

$(BIN)/python:
	@test -n "$(PYTHON)" || { echo "No Python 3.11 or newer with venv was found. Install one, or name it: make PYTHON=/path/to/python3" >&2; exit 1; }
	"$(PYTHON)" -m venv $(VENV)

$(VENV)/.package: pyproject.toml constraints.txt | $(BIN)/python
	$(BIN)/python $(INSTALL) -c constraints.txt -e .
	@touch $@

$(VENV)/.tools: pyproject.toml constraints.txt | $(BIN)/python
	$(BIN)/python $(INSTALL) -c constraints.txt -e '.[dev]'
	@touch $@ $(VENV)/.package

.PHONY: demo
demo: $(VENV)/.package  ## quote real models at real prices, with line items, errors and sources
	@echo; echo "== Kling O3 Pro, 5 seconds with audio: one rate"; echo
	$(RATECARD) quote --at $(DAY) --model kling-o3-pro-text-to-video --duration 5s
	@echo; echo "== Grok Imagine 1.5 from an image: seconds, and a fee for the image"; echo
	$(RATECARD) quote --at $(DAY) --model grok-imagine-1-5-image-to-video-private --duration 5s --resolution 720p
	@echo; echo "== Seedance 2.5 with 7.5 seconds of reference video: by tokens, shown as in Germany"; echo
	$(RATECARD) quote --at $(DAY) --locale de_DE --model seedance-2-5-reference-to-video-basic --duration 5s --resolution 1080p --aspect-ratio 16:9 --reference-video-total-duration 7.5
	@echo; echo "== Topaz upscale of a known video: by its height and frame rate"; echo
	$(RATECARD) quote --at $(DAY) --model topaz-video-upscale --source seconds=10,width=854,height=480,fps=60
	@echo; echo "== What the API answers: a price, or the tree of everything that is wrong"; echo
	$(RATECARD) quote --at $(DAY) --json '{"model": "ovi-image-to-video"}'
	$(RATECARD) quote --at $(DAY) --json '{"model": "kling-o3-pro-text-to-video", "duration": "99s", "target_fps": 500}' || test $$? = 1
	@echo; echo "== Where prices come from"; echo
	$(RATECARD) explain --at $(DAY) kling-o3-pro-text-to-video
	@echo; echo "== Many requests: a line in, a line out, the bad one in its place"; echo
	printf '%s\n' 'model,duration,resolution' 'ovi-image-to-video,,' 'veo3,5s,' 'wan-3-0-pro-text-to-video,30s,4k' | $(RATECARD) quote --at $(DAY) --batch - || test $$? = 1
	@echo; echo "Done. Next: README.md, docs/tutorial.md, make test"

# Tests wait for servers, processes and disks a sixth of their time: two more run at once than there are processors.
WORKERS := $(shell echo $$(( $$(getconf _NPROCESSORS_ONLN) + 2 )))
# Tests that need more than Python have targets of their own.
QUICK := --ignore-glob='*/test_spark*.py' --ignore-glob='*_in_browser.py' --ignore-glob='*_in_office.py' --ignore-glob='*_generated_clients.py' --ignore-glob='*_behind_nginx.py' --ignore=tests/hostile

.PHONY: test
test: lint types  ## run lint, format, types and all tests
	$(BIN)/python -m pytest -n $(WORKERS) --dist worksteal $(QUICK)

.PHONY: coverage
coverage: $(VENV)/.tools  ## run the same tests and say which lines and branches none of them reaches
	$(BIN)/python -m pytest -n $(WORKERS) --dist worksteal $(QUICK) --cov --cov-report=term

.PHONY: nightly
nightly: $(VENV)/.tools  ## run the property tests with all their examples, and test-openapi, which takes long
	NIGHTLY=1 $(BIN)/python -m pytest -n $(WORKERS) --dist worksteal $(QUICK)
	$(MAKE) test-openapi

.PHONY: lint
lint: $(VENV)/.tools  ## check style and format
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

.PHONY: types
types: $(VENV)/.tools  ## check types, strictly
	$(BIN)/mypy

.PHONY: format
format: $(VENV)/.tools  ## correct style and format
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

.PHONY: check
check: test test-wheel test-tables test-postgres test-objects test-hostile test-proxy test-browser test-office test-spark test-extras test-clients test-dialects test-imports  ## run everything that CI runs

.PHONY: test-wheel
test-wheel: $(VENV)/.package  ## build the wheel and use it alone, far from this folder
	@sh .ci/test-wheel $(BIN)/python

.PHONY: test-extras
test-extras: $(VENV)/.package  ## install every extra alone in a clean environment, and run its page's first command
	@$(BIN)/python .ci/test_extras.py

.PHONY: test-clients
test-clients: $(VENV)/.tools  ## make clients of the HTTP API in Python and TypeScript, and use them; says why it skips
	$(BIN)/python -m pytest -q -rs tests/server/test_generated_clients.py

.PHONY: test-postgres
test-postgres: $(VENV)/.tools  ## try the ledger and the usage history on a real PostgreSQL
	@sh .ci/test-postgres $(BIN)/python

.PHONY: test-proxy
test-proxy: $(VENV)/.tools  ## restart servers behind nginx under load; says why it skips where there is no nginx
	$(BIN)/python -m pytest -q -rsP tests/server/test_*_behind_nginx.py

# The cost of an input is CPU time, so that several may be measured at once; a server under attack has the machine alone.
.PHONY: test-hostile
test-hostile: $(VENV)/.tools  ## send what is made to cost much: its cost must grow as its size, and a server must answer others
	$(BIN)/python -m pytest -q -rs -n auto --dist worksteal tests/hostile/test_cost_grows_with_size.py
	$(BIN)/python -m pytest -q -rs tests/hostile/test_server_under_attack.py

$(VENV)/.spark: $(VENV)/.tools
	$(BIN)/python $(INSTALL) -c constraints.txt -e '.[spark]'
	@touch $@

.PHONY: test-spark
test-spark: $(VENV)/.spark  ## simulate on a real Spark: a master and two workers, one of them killed; says why it skips
	$(BIN)/python -m pytest -q -rs tests/simulation/test_spark*.py

.PHONY: test-spark-large
test-spark-large: $(VENV)/.spark  ## simulate 50,000,000 rows on two workers of 2 GB, and with DuckDB; takes long (ROWS=..., CUSTOMERS=...)
	ROWS=$(if $(filter command line environment,$(origin ROWS)),$(ROWS),50000000) $(BIN)/python -m pytest -q -rsP tests/simulation/spark_large.py

# An environment of its own for the S3 and Azure servers of the tests, whose requirements are others than ours.
AZURITE := azurite@3.35.0

.PHONY: test-objects
test-objects: $(VENV)/.tools  ## keep roll-ups on real S3 and Azure servers of this machine; says why it skips
	"$(PYTHON)" -m venv .venv-objects
	@.venv-objects/bin/python $(INSTALL) -r tests/simulation/requirements-storages.txt \
		|| { rm -rf .venv-objects; echo "The servers cannot be installed here: their tests are skipped."; }
	@npm install --silent --no-audit --no-fund --prefix .venv-objects $(AZURITE) \
		|| echo "The Azure server cannot be installed here: its tests are skipped."
	STORAGES_PYTHON=.venv-objects/bin/python AZURITE=.venv-objects/node_modules/.bin/azurite-blob \
		$(BIN)/python -m pytest -q -rs tests/simulation/test_stored_roll_ups.py -k "s3 or azure"

.PHONY: test-browser
test-browser: $(VENV)/.tools  ## try the pages in a real browser; says why it skips where there is none
	$(BIN)/python -m pytest -q -rs tests/*/test_*_in_browser.py

.PHONY: test-office
test-office: $(VENV)/.tools  ## compute a workbook again in LibreOffice; says why it skips where there is none
	$(BIN)/python -m pytest -q -rs tests/*/test_*_in_office.py

# An environment of its own for the providers' clients and the peers' price lists: ratecard needs none of them.
PEERS := .venv-dialects/.peers
$(PEERS): tests/dialects/requirements.txt pyproject.toml constraints.txt | $(BIN)/python
	"$(PYTHON)" -m venv .venv-dialects
	.venv-dialects/bin/python $(INSTALL) -e '.[testing]' -c constraints.txt pytest hypothesis
	@.venv-dialects/bin/python $(INSTALL) -r tests/dialects/requirements.txt && touch $@ \
		|| echo "The providers' clients cannot be installed here: their tests are skipped."

# What these files ask of the peers' packages; the rest of their folders is in `make test`.
.PHONY: test-dialects
test-dialects: $(PEERS)  ## read usages from the objects of every provider's own client, in .venv-dialects; says why it skips
	.venv-dialects/bin/python -m pytest -q -rs tests/dialects/test_client_objects.py

.PHONY: test-imports
test-imports: $(PEERS)  ## compare imported price lists with the peers' own calculation, in .venv-dialects; says why it skips
	.venv-dialects/bin/python -m pytest -q -rs tests/price_lists/test_litellm_costs.py tests/price_lists/test_litellm_formulas.py tests/price_lists/test_genai_prices*.py

.PHONY: tables
tables: $(VENV)/.package  ## check pricing_tables and its examples
	$(RATECARD) check pricing_tables

.PHONY: test-tables
test-tables: $(VENV)/.tools  ## try every example and every law on pricing_tables
	$(BIN)/python -m pytest -q -n auto --dist worksteal --rate-card pricing_tables

.PHONY: docs
docs: $(VENV)/.tools  ## serve the pages as a site, and build them again when they change
	$(BIN)/python -m zensical serve

.PHONY: site
site: $(VENV)/.tools  ## build the site into the folder site; a broken link fails it
	$(BIN)/python -m zensical build --clean --strict

.PHONY: catalogue
catalogue: $(VENV)/.tools  ## write docs/errors-in-tables.md from the broken tables of the tests
	$(BIN)/python tests/errors_in_tables.py

.PHONY: focus
focus: $(VENV)/.tools  ## hold a statement in FOCUS against the published validator, which needs Python 3.12 and an older numpy
	test -x .focus/bin/focus-validator || (python3.12 -m venv .focus && .focus/bin/pip install -q focus-validator==2.2.1 'pyarrow<20')
	FOCUS_VALIDATOR=.focus/bin/focus-validator $(BIN)/python -m pytest -q tests/statements/test_focus.py

.PHONY: picture
picture: $(VENV)/.tools  ## write docs/layers.svg, the picture of ARCHITECTURE.md, from the import contracts
	$(BIN)/python tests/layers_picture.py

.PHONY: schema
schema: $(VENV)/.package  ## write pricing_tables/schema.json, by which editors complete and check
	$(RATECARD) schema --out pricing_tables/schema.json

.PHONY: bench
bench: $(VENV)/.tools  ## compare a quote with validating its body
	$(BIN)/python benchmarks/quote_one.py

.PHONY: bench-cold
bench-cold: $(VENV)/.tools  ## compare a fresh process up to its first quote with importing pydantic
	$(BIN)/python benchmarks/cold_start.py

# A Python with peers, if `make bench-text` (genai-prices, litellm) or `make test-imports` (genai-prices) made one.
PEER := $(firstword $(wildcard .venv-bench/bin/python .venv-dialects/bin/python))
.PHONY: bench-growth
bench-growth: $(VENV)/.tools  ## say how times and memory grow: cold starts, models, counters, loads; a table and a plot
	$(BIN)/python benchmarks/growth_of_costs.py $(if $(PEER),--peers $(PEER))

# How many rows `make bench-simulate` makes up.
ROWS := 1000000
.PHONY: bench-simulate
bench-simulate: $(VENV)/.tools  ## compare a simulation with the bare scan of its usage
	$(BIN)/python benchmarks/simulate.py --rows $(ROWS)

.PHONY: bench-contracts
bench-contracts: $(VENV)/.tools  ## simulate 200,000 rows by 500 contracts, each row rated by itself too; and the time beside the list
	$(BIN)/python benchmarks/contracts.py

.PHONY: bench-serve
bench-serve: $(VENV)/.tools  ## compare quotes over HTTP with a constant endpoint (needs wrk)
	$(BIN)/python benchmarks/serve.py

.PHONY: test-openapi
test-openapi: $(VENV)/.tools  ## send 20,000 cases made from the OpenAPI description to a running server
	$(BIN)/python tests/server/openapi_cases.py 20000

.PHONY: test-swaps
test-swaps: $(VENV)/.tools  ## swap tables 200 times under load: no failed request, no answer of refused tables
	$(BIN)/python benchmarks/serve_soak.py --swaps 200 --kill-every 0 --stop-every 0

# How long `make soak` takes.
SECONDS := 1800
.PHONY: soak
soak: $(VENV)/.tools  ## half an hour of requests, charges and refunds: tables swapped, workers killed, the database stopped
	$(BIN)/python benchmarks/serve_soak.py --seconds $(SECONDS)

.PHONY: fuzz
fuzz: $(VENV)/.tools  ## send 1,000,000 mutated bodies through the library
	$(BIN)/python benchmarks/fuzz.py 1000000

# Which package `make mutate` changes, in how many places, and by which chance.
PACKAGE := ratecard.line_items
SAMPLE := 100
SEED := 1
.PHONY: mutate
mutate: $(VENV)/.tools  ## change a package in 100 places, one by one, and print each change that its tests do not notice (PACKAGE=...)
	"$(PYTHON)" -m venv .venv-mutate
	.venv-mutate/bin/python $(INSTALL) -r benchmarks/requirements-mutate.txt
	.venv-mutate/bin/python benchmarks/mutate.py $(PACKAGE) --python $(CURDIR)/$(BIN)/python --sample $(SAMPLE) --seed $(SEED)

.PHONY: bench-text
bench-text: constraints.txt | $(BIN)/python  ## compare the charge of tokens with other libraries, in .venv-bench
	"$(PYTHON)" -m venv .venv-bench
	.venv-bench/bin/python $(INSTALL) -r benchmarks/requirements-rate-text.txt -e .
	.venv-bench/bin/python benchmarks/rate_text.py

.PHONY: readme
readme: $(VENV)/.tools  ## write the real output of every example into the pages
	$(BIN)/python tests/readme_blocks.py

.PHONY: clean
clean:  ## remove the environment and everything that was built
	rm -rf $(VENV) .venv-objects .venv-dialects .venv-bench .venv-mutate build dist site .cache .mypy_cache .ruff_cache .pytest_cache .hypothesis .coverage htmlcov
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
