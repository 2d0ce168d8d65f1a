"""Any command line ends with an answer or one line that says why not.

A few lines per command from `benchmarks/fuzz.py`, which says what is made up there, with fixed
seeds; `make fuzz N=20000` tries more, with others.
"""

from __future__ import annotations

import shlex
from pathlib import Path

import fuzz
import pytest
from fuzz_lines import Command, commands

COMMANDS = commands()
# The whole search of a diagnosis is run if its line is valid, which takes seconds.
SHORT = {"diagnose": 3}


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> fuzz.Place:
    return fuzz.Place(tmp_path_factory.mktemp("fuzz"))


def test_every_command_is_tried() -> None:
    """Those of the help, with their subcommands, and each with its examples."""
    names = {command.name for command in COMMANDS}
    assert {"diagnose", "train fc", "sweep command", "theory online", "data fetch"} <= names
    assert len(names) == len(COMMANDS) >= 25
    assert all(command.examples for command in COMMANDS)


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.name)
def test_any_line_ends_well(command: Command, place: fuzz.Place) -> None:
    for words, ended in fuzz.check(command, SHORT.get(command.name, 6), place):
        assert not ended.fault, f"sgdphase {shlex.join(words)}\n{ended.fault}\n{ended.detail}"


# Lines that failed once.
@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("theory scales --lr 8", "lr = 8.0: lr and batch must be both given or neither"),
        ("theory scales --train-size 2^1000", "'2^1000' is too large: whole numbers are below"),
        ("theory online --time 1 --temperature 1e308", "temperature = 1e+308: must be"),
        ("theory online --time 1 --margin 5e-324", "from 1e-100 to 1e+100"),
        ("theory online --time 1 --chi 1e10", "up to 100"),
        ("theory online --time 1e100 --temperature 1e-100 --margin 1e-100 --dim 1e15", "gave up"),
        ("train perceptron --lr 1e-308", "lr = 1e-308: must be a finite number above 0, from"),
        ("train perceptron --train-size 2^60", "needs at least 1e+03 EiB of memory"),
        ("train perceptron --dim 2^62", "of memory, and this machine has"),
        ("train perceptron --seeds 1e12", "seeds = 1000000000000: must be an integer from 1"),
        ("train fc --data teacher --width 1e12", "width = 1000000000000: needs at least"),
        ("train fc --data teacher --depth 1e9 --width 2", "needs at least 946 GiB of memory"),
        ("train fc --data teacher --device hpu", "device = 'hpu': torch cannot use it here"),
        ("sweep perceptron --lr=2^-1000..2^1000 --batch 1 --store new.sqlite", "lr = 9.33"),
        ("sweep perceptron --train-size 2^50 --lr 1 --batch 1 --store new.sqlite", "of memory"),
        ("sweep perceptron --lr 1..2*1.0001 --temperature 1..2*1.0001 --store new.sqlite",
         "the grid holds 48052624 trainings"),
        ("sweep perceptron --dim 2,4 --chi 1..2*1.0001 --lr 1..2*1.0001 --batch 1 --store a",
         "the grid holds 13864 trainings"),
        ("sweep command 'nosuch {lr} {batch}' --lr 1 --batch 1 --store new.sqlite "
         "--metric a=json:m.json", "'nosuch': command not found"),
        ("figure fig1a --scale quick --out file.txt/x", "'file.txt' is a file"),
        ("figure all nope --scale quick", "nope"),
        ("report runs.sqlite new.html --observable status", "column status: holds texts"),
        ("report runs.sqlite file.txt/x.html", "cannot be written (Not a directory)"),
        ("report runs.sqlite gone/x.html", "there is no folder 'gone'"),
        ("diagram runs.sqlite --observable status", "an observable is a number"),
        ("diagram runs.sqlite --out gone/x.png", "there is no folder 'gone'"),
        ("explore runs.sqlite --out folder", "must end in .html"),
        ("export runs.sqlite gone/x.csv", "there is no folder 'gone'"),
        ("claims odd-claims", "cannot be read (Is a directory)"),
        ("claims a.claims.json", "holds no claims"),
        (f"runs {'a' * 300}", "File name too long"),
        (f"claims {'a' * 300}", "File name too long"),
        (f"train perceptron --plot {'a' * 300}.png", "File name too long"),
        ("rule runs.json --value val_loss --growth nope --out new.png", "nope"),
        ("diagram runs.json --observable nope", "no column nope"),
        ("rule nan.csv --where val_loss=1", "val_loss = 1.0: the runs have nothing, -inf, inf"),
        ("rule deep.json", "is not a json file"),
        ("rule binary.csv", "holds bytes that are no text"),
        ("diagnose foreign.sqlite --lr 1 --batch 1 --epochs 1", "foreign.sqlite: "),
        ("train fc --data encrypted.npz", "encrypted"),
        ("train fc --data header.npz", "damaged"),
        ("train perceptron --lr '\udcff'", "'\\udcff' is not a number"),
        ("claims '\x1b[31m'", "\\x1b[31m"),
    ],
)  # fmt: skip
def test_a_line_that_failed_once_says_why(place: fuzz.Place, line: str, reason: str) -> None:
    ended = place.run(shlex.split(line))
    assert not ended.fault, ended.detail or ended.fault
    assert ended.code == 2
    assert reason in ended.err


@pytest.mark.parametrize(
    ("line", "answer"),
    [
        ("theory scales --chi=-0.99", "first_step_lr"),  # beyond the largest float: inf
        ("theory scales --chi=-0.99 --json", '"first_step_lr": null'),
        ("claims claims", "[/red]"),
        ("diagram runs.json --observable val_loss", "Best learning rate"),
        ("rule utf16.csv", "Best learning rate"),
        ("rule latin.csv --value 'Verlust \u00fc' --lower-is-better", "Verlust \u00fc"),
        ("rule markup.csv --value '[/red]loss'", "[/red]loss"),
    ],
)
def test_a_line_that_failed_once_is_answered(place: fuzz.Place, line: str, answer: str) -> None:
    ended = place.run(shlex.split(line))
    assert not ended.fault, ended.detail or ended.fault
    assert ended.code == 0
    assert answer in ended.out


@pytest.mark.parametrize(
    "line",
    [
        # Some observables are NaN, and some are 0.
        "diagnose train.py --lr 0.05 --batch 32 --epochs=40 --out=report --train-sizes=64,128 "
        "--higher-is-better --dask tcp://here:8786",
        # A name that SQLite cannot take.
        "sweep command 'python train.py --lr {lr} --bs {batch} --seed {seed}' --lr '2^-10..2^-4' "
        "--batch '16..1024*4' --seeds 3 --metric=val_loss=json:metrics.json --store '\udcff.csv'",
        "sweep mobilenet --train-size=1,5 '--lr=2^-2..2^6*4' --batch '1..256*4' --test-size 2048 "
        "--seeds=2 --store new.sqlite",
    ],
)
def test_a_line_that_failed_once_ends_well(place: fuzz.Place, line: str) -> None:
    ended = place.run(shlex.split(line))
    assert not ended.fault, ended.detail or ended.fault


def test_a_traceback_is_a_fault(place: fuzz.Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """The net catches what it is for: a raise, a warning, a file left behind, no reason."""
    assert "ZeroDivisionError" in _with("theory constants", lambda *_: 1 / 0, place, monkeypatch)

    def leaves(*_: object) -> None:
        Path("left").touch()
        raise fuzz.InputError("no")

    assert "leaves files" in _with("theory constants", leaves, place, monkeypatch)

    def empty(*_: object) -> None:
        raise fuzz.InputError("")

    assert "without a reason" in _with("theory constants", empty, place, monkeypatch)

    def warns(*_: object) -> None:
        import warnings

        warnings.warn("odd", RuntimeWarning, stacklevel=1)

    assert "RuntimeWarning" in _with("theory constants", warns, place, monkeypatch)


def _with(line: str, function: object, place: fuzz.Place, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setattr("sgdphase.theory.constants", function)
    return place.run(line.split()).fault


def test_words_of_a_shell_are_named(place: fuzz.Place) -> None:
    line = "sweep command 'true {lr} {batch} | tee log' --lr 1 --batch 1 --store new.sqlite"
    ended = place.run(shlex.split(f"{line} --metric val_loss=json:m.json"))
    assert "warning: the command has |, which only a shell reads: give --shell" in ended.err
