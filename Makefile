# make demo   install into .venv, sweep a small plane, draw it
# make test   install into .venv, lint, type-check, test (with doctests)
# make test-examples   install the libraries of examples/ too, and ask about each script
# make bench  speed compared with the plain loop, in the same run
# make clean  remove what these made, with .venv
# make clean-cache  remove the caches of Python and numba alone
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
export OMP_NUM_THREADS ?= 1
export OPENBLAS_NUM_THREADS ?= 1
export MKL_NUM_THREADS ?= 1

.PHONY: demo test test-examples bench browser clean clean-cache

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

test: $(VENV)/.stamp browser
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/python -m pytest --numprocesses auto --maxprocesses 4 --dist worksteal

test-examples: $(VENV)/.stamp
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev,examples]'
	$(BIN)/python -m pytest -m examples tests/docs/test_examples.py

bench: $(VENV)/.stamp
	$(BIN)/python benchmarks/bench.py
	$(BIN)/python benchmarks/bench_networks.py

clean: clean-cache
	rm -rf $(VENV) build dist out

# Not those of the environment, which take a while to compile again.
clean-cache:
	find . -path ./$(VENV) -prune -o -name __pycache__ -prune -exec rm -rf {} +
