"""How a command ends: stopped by a signal at any moment, or with a thread left behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

import sgdphase

# The command line with commands that do one thing each.
SCRIPT = """
import sys, time, types
from pathlib import Path
from sgdphase import cli
from sgdphase.cli._stop import store_in_use
from sgdphase.errors import InputError
from sgdphase._own import user_file
from sgdphase._records import Training
from sgdphase._sweep import sweep

def register(app, line):
    @app.command()
    def load(file: str):
        user_file(file)

    @app.command()
    def train(file: str, workers: int):
        training = Training(user_file(file), train_size=8, lr=1.0, batch=1, model="function")
        print(sweep([training], "runs.sqlite", workers=workers).statuses)

    @app.command()
    def fail(file: str):
        user_file(file).code.call("train", 0, lr=1.0, batch=1, train_size=8, seed=0)
        raise InputError("that is wrong")

    @app.command()
    def page(store: Path):
        with store_in_use(store):
            print("ready", file=sys.stderr, flush=True)
            time.sleep(60)

cli._COMMANDS = dict.fromkeys(("load", "train", "fail", "page"), "")
cli._module = lambda name: types.SimpleNamespace(register=register)
cli.main()
"""
READY = "import sys, time; print('ready', file=sys.stderr, flush=True)"
LOOPS = f"{READY}\nwhile True:\n    try:\n        time.sleep(0.01)\n    except Exception: pass\n"
SLEEPS = f"def train(lr, batch, train_size, seed):\n    {READY}\n    time.sleep(60)\n"
LEAVES = """
import threading, time
def train(lr, batch, train_size, seed):
    threading.Thread(target=time.sleep, args=(60,)).start()
    return 1.0
"""
IN_STORE = "; every training that ended is in the store"

Start = Callable[..., "subprocess.Popen[str]"]


@pytest.fixture
def start(tmp_path: Path) -> Start:
    (tmp_path / "script.py").write_text(SCRIPT)
    path = os.pathsep.join([str(Path(sgdphase.__file__).parents[1]), *filter(None, sys.path)])

    def run(command: str, text: str = "", *more: str) -> subprocess.Popen[str]:
        (tmp_path / "mine.py").write_text(text)
        return subprocess.Popen(
            [sys.executable, "script.py", command, *(["mine.py"] if text else []), *more],
            cwd=tmp_path,
            env=os.environ | {"PYTHONPATH": path},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            # A shell that runs the tests in the background ignores Ctrl-C, for all below it.
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        )

    return run


@pytest.mark.parametrize(("sent", "name"), [(signal.SIGINT, "Ctrl-C"), (signal.SIGTERM, "SIGTERM")])
@pytest.mark.parametrize(
    ("call", "said"),
    [
        (("load", LOOPS), ""),
        (("train", SLEEPS, "1"), IN_STORE),
        (("page", "", "script.py"), IN_STORE),
        (("page", "", "none.sqlite"), ""),
    ],
    ids=["while loading", "while training", "while writing the page", "before there is a store"],
)
def test_a_signal_ends_it_with_one_line(
    start: Start, call: tuple[str, ...], said: str, sent: signal.Signals, name: str
) -> None:
    process = start(*call)
    assert process.stderr is not None
    assert process.stderr.readline() == "ready\n"
    process.send_signal(sent)
    _, errors = process.communicate(timeout=20)
    assert errors == f"sgdphase: stopped by {name}{said}\n"
    assert process.returncode == 128 + sent


@pytest.mark.parametrize("workers", ["0", "1"])
def test_a_thread_left_behind_keeps_nothing(start: Start, workers: str) -> None:
    before = time.monotonic()
    process = start("train", LEAVES, workers)
    out, errors = process.communicate(timeout=40)
    assert (out, errors, process.returncode) == ("{'fitted': 1}\n", "", 0)
    assert time.monotonic() - before < 40


def test_the_code_is_right_with_a_thread_left_behind(start: Start) -> None:
    process = start("fail", LEAVES)
    out, errors = process.communicate(timeout=40)
    assert (out, errors, process.returncode) == ("", "sgdphase: that is wrong\n", 2)
