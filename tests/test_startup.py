"""What is loaded before it is needed: nothing. Checked by the modules imported, not by a clock."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import typer

from sgdphase import cli

HEAVY = {"numba", "scipy", "matplotlib", "torch", "pooch", "pandas", "xarray", "distributed"}
# Says on stderr which modules were loaded, however the command ended.
SAY = """
import atexit, sys
atexit.register(lambda: print(*sys.modules, file=sys.stderr))
"""


def loaded(code: str, *words: str, cwd: Path | None = None) -> tuple[str, set[str]]:
    """What it printed, and the modules that were loaded at the end."""
    path = os.pathsep.join(filter(None, sys.path))
    ended = subprocess.run(
        [sys.executable, "-c", SAY + code, *words],
        capture_output=True, text=True, timeout=120, cwd=cwd, env=os.environ | {"PYTHONPATH": path},
    )  # fmt: skip
    *said, modules = ended.stderr.splitlines()
    return ended.stdout + "\n".join(said), set(modules.split())


def command(*words: str, cwd: Path | None = None) -> tuple[str, set[str]]:
    return loaded("from sgdphase.cli import main; main()", *words, cwd=cwd)


def test_importing_the_package_loads_nothing() -> None:
    for code in (
        "import sgdphase",
        "from sgdphase import theory, stats, problems, networks, diagram",
    ):
        _, modules = loaded(code)
        assert not modules & (HEAVY | {"numpy", "rich", "typer", "sqlite3"}), code


def test_what_is_used_loads_its_own_room_only() -> None:
    _, modules = loaded("import sgdphase as sp; sp.scales(train_size=64, dim=8, chi=1, margin=1)")
    assert not modules & HEAVY
    _, modules = loaded("import sgdphase as sp; sp.grid(lr=1.0, batch=[1, 2], seeds=2)")
    assert not modules & HEAVY
    _, modules = loaded("import sgdphase as sp; sp.Estimate(1, 0, 2), sp.Store('no.sqlite')")
    assert not modules & HEAVY


@pytest.mark.parametrize("words", [(), ("--help",), ("--version",), ("swep",), ("-x",)])
def test_the_command_itself_loads_no_numbers(words: tuple[str, ...]) -> None:
    said, modules = command(*words)
    assert said
    assert not modules & (HEAVY | {"numpy", "rich", "sqlite3"})


def test_the_list_of_figures_asks_the_store_and_a_cost_model_only(tmp_path: Path) -> None:
    said, modules = command("figure", "--list", cwd=tmp_path)
    assert "fig1a" in said and "quick 0/330" in said
    assert max(map(len, said.splitlines())) <= 100
    assert not modules & (HEAVY | {"rich"})


# What is wrong with each command: a value, an option, a file that is not there.
BAD_INPUT = [
    ("diagnose", "my.py", "--lr", "1"),
    ("diagnose", "my.py", "--lr", "1", "--batch", "8"),
    ("diagnose", "my.py", "--lr", "1", "--batch", "8", "--until", "bored"),
    ("train", "perceptron", "--lr", "x"),
    ("train", "fc", "--no-such-option"),
    ("sweep", "perceptron", "--lr", "x", "--batch", "1"),
    ("sweep", "vgg"),
    ("runs", "no.sqlite"),
    ("export", "no.sqlite", "runs.txt"),
    ("export", "no.sqlite", "runs.csv"),
    ("diagram",),
    ("diagram", "no.sqlite"),
    ("diagram", "no.sqlite", "--out", "d.gif"),
    ("report", "no.sqlite"),
    ("report", "no.sqlite", "page.html"),
    ("report", "no.sqlite", "page.html", "--where", "chi"),
    ("equivalents", "no.csv"),
    ("rule", "no.csv", "--out", "best.txt"),
    ("steps", "no.csv"),
    ("explore", "no.sqlite"),
    ("explore", "--out", "page.txt"),
    ("figure",),
    ("figure", "fig99"),
    ("figure", "fig1a", "--scale", "huge"),
    ("claims", "no-folder"),
    ("verify", "no-folder"),
    ("theory", "constants", "--chi", "x"),
    ("theory", "constants", "--chi", "-2"),
    ("theory", "averages", "--lam", "1", "--r", "-1", "--chi", "1"),
    ("theory", "online", "--dim", "1", "--time", "10"),
    ("data", "fetch", "svhn"),
    ("help", "range"),
]


HELP = [(name, "--help") for name in cli._COMMANDS]
# Each line in a fork of a process that has loaded what all of them load: 0.5 s less per line.
FORKS = """
import json, os, sys, tempfile
import numpy, typer._adapters
from sgdphase.cli import _options, main

ended = []
for words in json.loads(sys.argv[1]):
    with tempfile.TemporaryFile("w+") as said, tempfile.TemporaryFile("w+") as modules:
        if not os.fork():
            os.dup2(said.fileno(), 1), os.dup2(said.fileno(), 2)
            sys.argv[1:] = words
            try:
                main()
            finally:
                print(*sys.modules, file=modules, flush=True)
                sys.stdout.flush(), sys.stderr.flush()
                os._exit(0)
        os.wait(), said.seek(0), modules.seek(0)
        ended.append([words, said.read(), modules.read().split()])
print(json.dumps(ended))
"""


def test_no_line_loads_a_heavy_module(tmp_path: Path) -> None:
    lines = [*HELP, *BAD_INPUT]
    said, _ = loaded(FORKS, json.dumps(lines), cwd=tmp_path)
    heavy = HEAVY | {"rich.table", "rich.progress"}
    for words, (given, text, modules) in zip(lines, json.loads(said), strict=True):
        assert tuple(given) == words and "typer" in modules
        assert not heavy & set(modules), words
        if words in HELP:
            assert text.startswith("Usage: "), words
        else:
            assert len(text.splitlines()) == 1 and text.startswith("sgdphase: "), words


def test_bad_input_of_every_command_is_checked() -> None:
    assert {words[0] for words in BAD_INPUT} == set(cli._COMMANDS)


def test_the_list_of_commands_is_whole_and_not_cut() -> None:
    said, _ = command("--help")
    listed = said.partition("Commands:")[2].strip().splitlines()
    assert not any(line.endswith("...") for line in listed)
    there = typer.main.get_group(cli.build()).commands
    assert {line.split()[0] for line in listed} == set(there)


def test_what_networks_cost_is_known_without_torch(tmp_path: Path) -> None:
    (tmp_path / "torch.py").write_text("raise ModuleNotFoundError('no torch', name='torch')")
    code = f"""
import sys; sys.path.insert(0, {str(tmp_path)!r})
import sgdphase as sp
from sgdphase._sweep import missing
print([job.cost > 0 for job in missing(sp.grid(lr=1.0, batch=8, model="fc"), sp.Store("no"))])
try:
    sp.networks.fit
except sp.InputError as error:
    print(error)
"""
    said, modules = loaded(code, cwd=tmp_path)
    assert said.splitlines()[0] == "[True]"
    assert "pip install 'sgdphase[networks]'" in said
    assert not modules & (HEAVY - {"torch"})
