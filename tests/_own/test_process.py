"""Commands in a group of their own: how they end, and that nothing is left of them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from sgdphase._own.process import run_in_group

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="finds processes in /proc")

# Two processes of one group: a shell, and a child that does not mind SIGTERM.
FAMILY = "sh -c 'trap \"\" TERM; echo $$ >> pids; while :; do sleep 0.05; done' & "
HANG = f"{FAMILY} echo $$ >> pids; wait"


def run(tmp_path: Path, text: str, seconds: float | None = None) -> int | None:
    out, err = tmp_path / "out", tmp_path / "err"
    words = ["/bin/sh", "-c", text]
    return run_in_group(words, tmp_path, environment=os.environ, out=out, err=err, seconds=seconds)


def are_alive(tmp_path: Path) -> bool:
    def is_alive(pid: str) -> bool:
        try:
            return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
        except (FileNotFoundError, ProcessLookupError):
            return False

    return any(map(is_alive, (tmp_path / "pids").read_text().split()))


def gone(tmp_path: Path, seconds: float = 20.0) -> bool:
    deadline = time.monotonic() + seconds
    while are_alive(tmp_path) and time.monotonic() < deadline:
        time.sleep(0.02)
    return not are_alive(tmp_path)


def wait_for(path: Path, lines: int) -> None:
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        if path.exists() and len(path.read_text().splitlines()) >= lines:
            return
        time.sleep(0.02)
    raise AssertionError(f"{path} was not written")


def test_output_and_exit_code(tmp_path: Path) -> None:
    assert run(tmp_path, "echo one; echo two >&2; exit 3") == 3
    assert (tmp_path / "out").read_text() == "one\n"
    assert (tmp_path / "err").read_text() == "two\n"


def test_a_signal_is_a_negative_code(tmp_path: Path) -> None:
    assert run(tmp_path, "kill -KILL $$") == -signal.SIGKILL


def test_nothing_can_be_read_from_the_terminal(tmp_path: Path) -> None:
    assert run(tmp_path, "read x || exit 7", seconds=20) == 7


def test_a_time_out_ends_the_whole_group(tmp_path: Path) -> None:
    assert run(tmp_path, HANG, seconds=1.5) is None
    # A killed process ends when it is scheduled next.
    assert len((tmp_path / "pids").read_text().split()) == 2 and gone(tmp_path)


def test_what_a_command_leaves_behind_is_killed(tmp_path: Path) -> None:
    assert run(tmp_path, f"{FAMILY} while [ ! -s pids ]; do sleep 0.02; done") == 0
    assert gone(tmp_path)


def test_it_ends_with_this_process_even_if_that_is_killed(tmp_path: Path) -> None:
    code = (
        "import os, sys; from pathlib import Path\n"
        "from sgdphase._own.process import run_in_group\n"
        "here = Path(sys.argv[1])\n"
        "run_in_group(['/bin/sh', '-c', sys.argv[2]], here, environment=os.environ,\n"
        "             out=here / 'out', err=here / 'err')\n"
    )
    process = subprocess.Popen([sys.executable, "-c", code, str(tmp_path), HANG])
    wait_for(tmp_path / "pids", 2)
    assert are_alive(tmp_path)
    process.kill()
    process.wait()
    assert gone(tmp_path)
