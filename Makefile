# make demo   install into .venv, sweep a small plane, draw it
# make test   install into .venv, lint, type-check, test (with doctests)
# make test-examples   install the libraries of examples/ too, and ask about each script
# make docs   install what the site needs too, run the notebooks, build build/site, check its links
# make quick-start   do what docs/quick-start.md says in an empty environment, by the clock
# make bench  speed, scale and expected times, with targets: half an hour on idle cores
# make fuzz   try N command lines (2000) and count tracebacks; docs/robustness.md has a table
# make torture  crash a sweep N times (40) and count what is lost, after a check that it counts; docs/store.md has a table
# make test-browser   only the tests of the pages in a browser
# make wheel-test     build, install the wheel into an empty environment, try every command
# make test-oldest    core tests with the lowest versions that pyproject.toml allows
# make test-newest    core tests with the newest versions, without constraints.txt
# make release-check  all of a release that needs no upload (RELEASING.md)
# make clean  remove what these made, with .venv
# make clean-cache  remove the caches of Python and numba alone
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
export OMP_NUM_THREADS ?= 1
export OPENBLAS_NUM_THREADS ?= 1
export MKL_NUM_THREADS ?= 1
# Each process of the tests would compile the tests and the package anew.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo test test-examples docs quick-start bench fuzz torture browser types compiled clean clean-cache
.PHONY: wheel-test test-oldest test-newest test-browser release-check

# The stamp stands for an environment that matches these two files.
$(VENV)/.stamp: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
	touch $@

demo: $(VENV)/.stamp
	mkdir -p out
	rm -f out/demo.sqlite*
	$(BIN)/sgdphase sweep perceptron --train-size 2048 --dim 64 --chi 1 --margin 2^-7 \
		--lr 2^-7..2^11 --batch 2^0..2^11 --seeds 3 --store out/demo.sqlite
	$(BIN)/sgdphase diagram out/demo.sqlite
	$(BIN)/sgdphase diagram out/demo.sqlite --out out/demo.png

# The pages are tested in a browser. Without one, and without the right to install it, these tests skip.
browser:
	command -v chromium >/dev/null || command -v google-chrome >/dev/null \
		|| { [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null \
			&& apt-get update -qq && apt-get install -y -qq --no-install-recommends chromium >/dev/null; } \
		|| echo "no browser: the tests of the pages in a browser are skipped"

# More processes than cores: tests that start others wait for them.
test: $(VENV)/.stamp browser
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(MAKE) --no-print-directory --jobs 2 types compiled
	$(BIN)/python -m pytest --numprocesses 3 --dist worksteal

types: $(VENV)/.stamp
	$(BIN)/mypy

# The second line writes the bytecode of the tests.
compiled: $(VENV)/.stamp
	$(BIN)/python tests/compile.py
	$(BIN)/python -m pytest --collect-only >/dev/null

test-examples: $(VENV)/.stamp
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev,examples]'
	$(BIN)/python -m pytest -m examples tests/docs/test_examples.py

# A warning is an error. SGDPHASE_NOTEBOOKS=cache runs only notebooks whose text changed, off runs none.
docs: $(VENV)/.stamp
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev,docs]'
	$(BIN)/python -m sphinx --builder html --fail-on-warning --nitpicky --quiet \
		--doctree-dir build/doctrees docs build/site
	$(BIN)/python docs/check_links.py build/site

quick-start:
	$(PYTHON) docs/run_quick_start.py

test-browser: $(VENV)/.stamp browser
	$(BIN)/python -m pytest tests/_report

# Packaging: tools and empty environments stand in build/.
TOOLS := build/tools
EXTRAS ?= dask,export
CORE := tests/stats tests/perceptron/test_simulate.py tests/test_records.py tests/_sweep/test_store.py \
	tests/_sweep/test_exports.py $(addprefix tests/cli/test_,values.py tables.py theory.py train.py)

$(TOOLS)/.stamp: constraints.txt
	$(PYTHON) -m venv $(TOOLS)
	$(TOOLS)/bin/python -m pip install --quiet --disable-pip-version-check -c constraints.txt build twine uv
	touch $@

wheel-test: $(TOOLS)/.stamp
	rm -rf dist build/wheel
	$(TOOLS)/bin/python -m build --outdir dist .
	$(TOOLS)/bin/twine check --strict dist/*
	$(PYTHON) -m venv build/wheel
	build/wheel/bin/python -m pip install --quiet --disable-pip-version-check -c constraints.txt dist/*.whl
	build/wheel/bin/python tests/smoke.py build/wheel/bin/sgdphase

# The tests' own tools are the newest ones in both.
test-oldest: RESOLUTION := lowest-direct
test-newest: RESOLUTION := highest
test-oldest test-newest: $(TOOLS)/.stamp
	rm -rf build/$@
	$(TOOLS)/bin/uv venv --quiet --python $(PYTHON) build/$@
	$(TOOLS)/bin/uv pip install --quiet --python build/$@ --resolution $(RESOLUTION) '.[$(EXTRAS)]'
	$(TOOLS)/bin/uv pip install --quiet --python build/$@ mpmath pytest pytest-xdist
	build/$@/bin/python -m pytest --numprocesses auto --maxprocesses 4 $(CORE)

release-check: wheel-test
	$(PYTHON) tests/release.py
	test -z "$$(git status --porcelain)" || { git status --short; exit 1; }

bench: $(VENV)/.stamp
	$(BIN)/python benchmarks/run_all.py

N ?= 40
fuzz: $(VENV)/.stamp
	$(BIN)/python benchmarks/fuzz.py $(N)

torture: $(VENV)/.stamp
	$(BIN)/python -m pytest -m torture tests/_sweep/test_torture.py
	$(BIN)/python tests/_sweep/torture.py $(N)

clean: clean-cache
	rm -rf $(VENV) build dist out

# Not those of the environment, which take a while to compile again.
clean-cache:
	find . -path ./$(VENV) -prune -o -name __pycache__ -prune -exec rm -rf {} +
