"""`sgdphase report` as it is typed."""

from __future__ import annotations

import sys

import pytest

from sgdphase._records import Outcome, Training
from sgdphase._sweep import Run, Store
from sgdphase.cli import main
from sgdphase.problems import TeacherTask


@pytest.fixture
def store(tmp_path):
    path = tmp_path / "runs.sqlite"
    runs = []
    for size in (64, 128):
        for lr in (0.5, 1.0, 2.0):
            for batch in (1, 2, 4):
                training = Training(TeacherTask(dim=8), size, lr, batch)
                outcome = Outcome("fitted", 3, 3 * lr, {"alignment": lr / batch, "w1": lr})
                runs.append((training.key, Run(training, outcome, 0.1)))
    with Store(path).writer() as writer:
        writer.write(runs, trajectory=False)
    return path


@pytest.fixture
def sgdphase(monkeypatch, capsys):
    def run(*args):
        monkeypatch.setattr(sys, "argv", ["sgdphase", "report", *map(str, args)])
        with pytest.raises(SystemExit) as end:
            main()
        return end.value.code, capsys.readouterr()

    return run


def test_all_experiments(sgdphase, store, tmp_path):
    code, said = sgdphase(store, tmp_path / "out.html")
    assert code == 0
    assert said.out == ""
    assert said.err == f"wrote {tmp_path / 'out.html'}\n"
    page = (tmp_path / "out.html").read_text(encoding="utf-8")
    assert page.count("data:image/png;base64,") == 2
    assert page.count("Every run (9)") == 2


@pytest.mark.parametrize(
    "choice",
    [
        ["--train-size", "2^6"],
        ["--where", "train-size=64"],
        ["--train-size", "64", "--dim", "8", "--chi", "1", "--margin", "2^-7", "--factor", "3"],
        ["--observable", "w1", "--where", "train_size=64", "--where", "momentum=0"],
    ],
)
def test_a_choice(sgdphase, store, tmp_path, choice):
    code, _ = sgdphase(store, tmp_path / "out.html", *choice)
    assert code == 0
    page = (tmp_path / "out.html").read_text(encoding="utf-8")
    assert page.count("data:image/png;base64,") == 1
    assert "train_size = 64" in page
    assert "train_size = 128" not in page


@pytest.mark.parametrize(
    ("out", "options", "message"),
    [
        ("none/out.html", [], "there is no folder"),
        ("out.txt", [], "must end in .html"),
        ("out.html", ["--observable", "w7"], "no column w7"),
        ("out.html", ["--chi", "3"], "chi = 3.0: the runs have"),
        ("out.html", ["--dim", "8", "--where", "dim=8"], "dim is chosen already"),
        ("out.html", ["--factor", "1"], "factor = 1.0: must be a number above 1"),
        ("out.html", ["--where", "factor=2"], "the runs have"),
    ],
)
def test_bad_input_is_one_line_and_code_2(sgdphase, store, tmp_path, out, options, message):
    code, said = sgdphase(store, tmp_path / out, *options)
    assert code == 2
    assert message in said.err
    assert said.err.count("\n") == 1
    assert not (tmp_path / out).exists()


def test_no_store(sgdphase, tmp_path):
    code, said = sgdphase(tmp_path / "none.sqlite", tmp_path / "out.html")
    assert code == 2
    assert "there is no store" in said.err
