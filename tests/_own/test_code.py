"""User files that behave badly: noticed, said, and worked around."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from sgdphase._own import user_file
from sgdphase._own.code import time_limit
from sgdphase._records import Training
from sgdphase._sweep import sweep
from sgdphase.errors import InputError

Write = Callable[..., Path]


# Another working directory.

MOVES = """
import os, numpy as np
from pathlib import Path
{top}
def model():
    return Path("here.txt").read_text()
class Points:
    def __len__(self): return 4
    def __getitem__(self, index):
        return np.full(2, float(Path("here.txt").read_text())), index % 2
def data():
    {within}
    return Points()
"""


@pytest.mark.parametrize("top", [True, False])
def test_the_working_directory_is_put_back_and_the_user_finds_theirs(
    write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, top: bool
) -> None:
    write("7", "inner/here.txt")
    (tmp_path / "start").mkdir()
    monkeypatch.chdir(tmp_path / "start")
    move = f"os.chdir({str(tmp_path / 'inner')!r})"
    text = MOVES.format(top=move if top else "", within="pass" if top else move)
    path = write(text)
    problem = user_file(os.path.relpath(path))
    assert Path.cwd() == tmp_path / "start"
    assert Path(problem.path).samefile(path)
    # The points were read, and later calls are made, where it moved to.
    assert problem.train_set(4, 0).x.tolist() == [[7.0, 7.0]] * 4
    assert problem.code.call("model", 0) == "7"
    with problem.code.guest("model"):
        assert Path.cwd() == tmp_path / "inner"
        assert problem.code.call("model", 0) == "7"
        assert Path.cwd() == tmp_path / "inner"
    assert Path.cwd() == tmp_path / "start"


def test_it_is_put_back_after_an_error_and_from_a_folder_that_is_gone(
    write: Write, tmp_path: Path
) -> None:
    before = Path.cwd()
    path = write("import os\nos.chdir('/')\n1 / 0\n")
    with pytest.raises(InputError, match="ZeroDivisionError"):
        user_file(path)
    assert Path.cwd() == before
    path = write(
        "import os, tempfile\nwith tempfile.TemporaryDirectory() as folder:\n"
        "    os.chdir(folder)\ndef train(lr, batch, seed): return 1.0\n"
    )
    assert user_file(path).code.call("train", 0, lr=1, batch=1, seed=1) == 1.0
    assert Path.cwd() == before


def test_a_sweep_writes_where_it_was_told_to(
    write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "start").mkdir()
    (tmp_path / "inner").mkdir()
    monkeypatch.chdir(tmp_path / "start")
    path = write(
        f"import os\ndef train(lr, batch, seed):\n    os.chdir({str(tmp_path / 'inner')!r})\n"
        "    return 1.0\n"
    )
    plan = [
        Training(user_file(path), train_size=8, lr=1.0, batch=b, model="function") for b in (1, 2)
    ]
    assert sweep(plan, "runs.sqlite", workers=0).statuses == {"fitted": 2}
    assert [file.name for file in tmp_path.rglob("*.sqlite")] == ["runs.sqlite"]
    assert (tmp_path / "start" / "runs.sqlite").exists()


# A file that does not end.

LOOPS = {
    "at the top": "while True: pass",
    "in data": "def model(): pass\ndef data():\n    while True: pass",
    "asleep": "import time\ntime.sleep(60)",
    "catches": "while True:\n    try:\n        while True: pass\n    except Exception: pass",
    "catches all once": "try:\n    while True: pass\nexcept: pass\nwhile True: pass",
}


@pytest.mark.parametrize("kind", LOOPS)
def test_loading_ends_with_the_budget(write: Write, kind: str) -> None:
    path = write(LOOPS[kind])
    handler, directory = signal.getsignal(signal.SIGALRM), Path.cwd()
    start = time.monotonic()
    with (
        pytest.raises(
            InputError,
            match=r"\Amine.py: loading it did not end within the budget of 0.3 s\Z",
        ),
        time_limit(0.3, "mine.py"),
    ):
        user_file(path)
    assert 0.3 <= time.monotonic() - start < 5.0
    assert signal.getsignal(signal.SIGALRM) is handler
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)
    assert Path.cwd() == directory


def test_a_limit_that_is_not_reached_leaves_nothing_behind() -> None:
    handler = signal.getsignal(signal.SIGALRM)
    for seconds in (30.0, float("inf")):
        with time_limit(seconds, "mine.py"):
            pass
        assert signal.getsignal(signal.SIGALRM) is handler
        assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)
    with pytest.raises(KeyError), time_limit(30.0, "mine.py"):
        raise KeyError
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)
    with pytest.raises(InputError, match="budget of 0 s"), time_limit(0.0, "mine.py"):
        time.sleep(10)


def test_where_there_is_no_alarm_there_is_no_limit() -> None:
    ended = []

    def work() -> None:
        with time_limit(0.01, "mine.py"):
            time.sleep(0.1)
        ended.append(True)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert ended == [True]


# Reading the data.


def test_a_file_is_read_once(write: Write, tmp_path: Path) -> None:
    log = tmp_path / "log"
    path = write(
        f"""
        import numpy as np
        def note(what):
            with open({str(log)!r}, "a") as file: print(what, file=file)
        note("file")
        def model(): pass
        def data():
            note("data")
            return np.eye(8), np.arange(8) % 2
        """
    )
    problem = user_file(path)
    problem.prepare(), problem.train_set(4, 0), problem.test_set(2, 1), problem.classes
    assert log.read_text().split() == ["file", "data"]
    # Anew for each question: the file may have changed.
    assert user_file(path) == problem
    assert log.read_text().split() == ["file", "data"] * 2
