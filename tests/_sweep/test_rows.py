"""Rows that somebody forged: the checksum is right, and what they hold is not.

No reader may show them as runs, run what they name, or end in a traceback.
"""

from __future__ import annotations

import json
import sqlite3
import sys
import zlib
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import pytest

from sgdphase import cli
from sgdphase._records import ENGINES, Training
from sgdphase._report import store_page
from sgdphase._sweep import Store, grid, sweep
from sgdphase._sweep.rows import COLUMNS, _training_of, crc
from sgdphase.errors import InputError
from sgdphase.problems import Stripe

PLAN = grid(dim=8, train_size=32, lr=[1.0, 2.0], batch=[1, 2], seeds=2)
NAMES = COLUMNS.split(", ")


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    path = tmp_path_factory.mktemp("sound") / "runs.sqlite"
    sweep(PLAN, path, workers=0, trajectories=True)
    return path.read_bytes()


@pytest.fixture
def path(tmp_path: Path, sound: bytes) -> Path:
    path = tmp_path / "runs.sqlite"
    path.write_bytes(sound)
    return path


def forge(path: Path, **columns: Any) -> str:
    """Write other columns into the first row, with a checksum that fits them; its key."""
    with closing(sqlite3.connect(path)) as connection:
        old = connection.execute(f"SELECT {COLUMNS} FROM runs LIMIT 1").fetchone()
        row = [columns.get(name, value) for name, value in zip(NAMES, old, strict=True)]
        plain = [value for value in row if not isinstance(value, bytes)]
        checksum = crc(row) if plain == row else 0
        marks = ", ".join("?" * len(row))
        connection.execute("DELETE FROM runs WHERE key = ?", (old[0],))
        connection.execute(f"INSERT INTO runs VALUES ({marks}, ?)", (*row, checksum))
        connection.commit()
    return str(old[0])


def training(path: Path, **values: Any) -> str:
    """The training of the first row with other values; `...` removes one."""
    with closing(sqlite3.connect(path)) as connection:
        text = connection.execute("SELECT training FROM runs LIMIT 1").fetchone()[0]
    plain = json.loads(text) | values
    return json.dumps({name: value for name, value in plain.items() if value is not ...})


DEEP = "[" * 100_000 + "]" * 100_000
TEACHER = {"kind": "teacher", "dim": 8, "chi": 1.0}
# Of a training: other values of its JSON.
TRAININGS: dict[str, dict[str, Any]] = {
    "no lr": {"lr": ...},
    "no problem": {"problem": ...},
    "a text for a number": {"lr": "0.5"},
    "a list for a number": {"batch": [1]},
    "a flag for a number": {"lr": True},
    "an object for a text": {"loss": {"a": 1}, "model": "my:train"},
    "not a number": {"lr": float("nan")},
    "no integer": {"train_size": 32.5},
    "more than an array holds": {"seed": 2**70},
    "a float for the seed": {"seed": 10.0},
    "more than a float holds": {"lr": 10**400},
    "an unknown parameter": {"nonsense": 1},
    "an unknown model": {"model": "nonsense"},
    "another model": {"model": "fc"},
    "a problem that is a text": {"problem": "teacher"},
    "a problem without a kind": {"problem": {"dim": 8}},
    "a problem with a text for a number": {"problem": TEACHER | {"dim": "8"}},
    "a problem with junk": {"problem": TEACHER | {"junk": 1}},
    "a kind that is a list": {"problem": {"kind": ["teacher"]}},
    "a kind that is a relative module": {"problem": {"kind": ".os:system"}},
    "a flag for the points of the user": {
        "problem": {"kind": "own", "path": "x.py", "digest": "0", "points": True}
    },
    "a text for a timeout": {
        "problem": {"kind": "command", "command": "x", "metrics": "", "digest": "", "timeout": "1"}
    },
    "half a command": {"problem": {"kind": "command", "command": "'", "metrics": "", "digest": ""}},
    "an empty command": {
        "problem": {"kind": "command", "command": "", "metrics": "", "digest": ""}
    },
    "signs that move the cursor": {"model": "my:train\x1b[2J"},
    "half a sign": {"model": "my:train\ud800"},
}
ROWS: dict[str, dict[str, Any]] = {
    "an unknown status": {"status": "excellent"},
    "a text for the steps": {"steps": "many"},
    "bytes for a text": {"status": b"fitted"},
    "a text for the engine": {"engine": "two"},
    "a text for the seconds": {"seconds": "long"},
    "no JSON": {"training": "{"},
    "JSON that is no object": {"training": "[]"},
    "JSON in JSON in JSON": {"training": DEEP},
    "another model than its training": {"model": "nonsense", "engine": 0},
    "a text for an observable": {"observables": '{"w1": "large"}'},
    "nothing for an observable": {"observables": '{"w1": null}'},
    "nested observables": {"observables": '{"w1": {"w2": [1]}}'},
    "observables that are a list": {"observables": "[1, 2]"},
    "an observable beyond floats": {"observables": f'{{"w1": {10**400}}}'},
    "an observable with an escape": {"observables": '{"\\u001b[31m": 1.0}'},
}


@dataclass(frozen=True)
class Seeded(Stripe):
    """A problem that has a seed too."""

    kind: ClassVar[str] = "test_rows:Seeded"

    seed: int = 0


def test_the_seed_of_a_problem_is_not_that_of_the_training() -> None:
    for own, seed in ((1, 2), (1, 3), (2, 3), (0, 0)):
        training = Training(Seeded(dim=4, seed=own), 32, 1.0, 1, model="my:train", seed=seed)
        text = json.dumps(training.as_dict())
        assert _training_of(text).as_dict() == training.as_dict()
        first = dict(reversed(json.loads(text).items()))  # its own seed stands first
        assert _training_of(json.dumps(first)).as_dict() == training.as_dict()


@pytest.mark.parametrize("name", [*TRAININGS, *ROWS])
def test_a_forged_row_is_named_in_one_line(path: Path, name: str) -> None:
    columns = ROWS.get(name) or {"training": training(path, **TRAININGS[name])}
    if TRAININGS.get(name, {}).get("model", "").startswith("my:"):
        columns |= {"model": TRAININGS[name]["model"].encode("utf8", "replace").decode()}
        columns |= {"engine": 0}
    key = forge(path, **columns)
    for use in (lambda: Store(path).runs(trajectories=True), lambda: sweep(PLAN, path, workers=0)):
        with pytest.raises(InputError, match=key) as error:
            use()
        assert "\n" not in str(error.value) and len(str(error.value)) < 400
        str(error.value).encode()


def test_a_trajectory_that_would_fill_the_memory(path: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr("sgdphase._sweep.rows._LARGEST_TRAJECTORY", 10_000)
    bomb = zlib.compress(bytes(80_000))
    for names, data in [('["w1"]', bomb), ('["w1"]', b"no zlib"), ("1", bomb), ('["a", "b"]', b"")]:
        with closing(sqlite3.connect(path)) as connection:
            connection.execute("UPDATE trajectories SET names = ?, data = ?", (names, data))
            connection.commit()
        with pytest.raises(InputError, match="damaged"):
            Store(path).runs(trajectories=True)
        assert len(Store(path).runs()) == len(PLAN)


@pytest.mark.parametrize(
    "problem",
    [
        {"kind": "os:mkdir", "path": "harm"},
        {"kind": "subprocess:Popen", "args": ["mkdir", "harm"]},
        {"kind": "numpy:savetxt", "fname": "harm", "X": [1]},
        {"kind": "pathlib:Path.mkdir", "self": "harm"},
        {"kind": "sgdphase.paper:make", "figure": "fig2", "scale": "quick", "store": "harm"},
        {"kind": "antigravity:x"},
        {"kind": "arrays", "path": "harm.npz", "digest": "", "points": 0},
    ],
)
def test_reading_calls_nothing_that_a_row_names(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, problem: dict[str, Any]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delitem(sys.modules, "antigravity", raising=False)
    forge(path, training=training(path, problem=problem))
    with pytest.raises(InputError) as error:
        Store(path).runs()
    assert not (tmp_path / "harm").exists() and "harm.npz" not in str(error.value)
    assert "antigravity" not in sys.modules


def test_reading_does_not_run_the_code_of_a_user(path: Path, tmp_path: Path) -> None:
    """A row names the file that was trained; it is read without it."""
    harm = tmp_path / "harm.py"
    harm.write_text("import pathlib; pathlib.Path(__file__).with_name('harm').mkdir()")
    problem = {"kind": "own", "path": str(harm), "digest": "0"}
    named = training(path, problem=problem, model="own")
    forge(path, training=named, model="own", engine=ENGINES["own"])
    assert [run.training.model for run in Store(path).runs()].count("own") == 1
    store_page(path, tmp_path / "page.html")
    assert not (tmp_path / "harm").exists()


@pytest.mark.parametrize("words", [
    ["runs"], ["export", "runs.csv"], ["export", "runs.nc"], ["diagram"], ["report", "page.html"],
    ["explore", "--out", "page.html"], ["rule", "--value", "w1"], ["equivalents"],
    ["sweep", "perceptron", "--dim", "8", "--train-size", "32", "--lr", "1,2", "--batch", "1,2",
     "--seeds", "2", "--workers", "0", "--store"],
])  # fmt: skip
def test_every_command_says_it_in_one_line(
    path: Path,
    words: list[str],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    key = forge(path, training=training(path, lr="large"))
    monkeypatch.chdir(path.parent)
    at = len(words) if words[-1] == "--store" else 1
    monkeypatch.setattr("sys.argv", ["sgdphase", *words[:at], str(path), *words[at:]])
    with pytest.raises(SystemExit) as end:
        cli.main()
    errors = capsys.readouterr().err
    assert end.value.code == 2, errors
    assert key in errors and errors.count("\n") == 1
    assert [each.name for each in path.parent.iterdir()] == ["runs.sqlite"]


@pytest.mark.parametrize("statement", [
    "CREATE TRIGGER t AFTER INSERT ON runs BEGIN DELETE FROM runs; END",
    "CREATE VIEW v AS SELECT * FROM runs",
])  # fmt: skip
def test_statements_of_somebody_else_are_refused(path: Path, statement: str) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(statement)
    with pytest.raises(InputError, match="no store has one"):
        Store(path)


def test_a_sound_row_stays_readable(path: Path) -> None:
    """The forgery itself is not what is refused."""
    forge(path, training=training(path), observables='{"w1": 3, "ä": Infinity, "n": NaN}')
    (run,) = [run for run in Store(path).runs() if "ä" in run.outcome]
    assert run.outcome["w1"] == 3 and run.outcome["ä"] == float("inf")
