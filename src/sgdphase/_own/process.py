"""A command in a process group of its own, of which nothing is left however it ends."""

from __future__ import annotations

import os
import signal
from collections.abc import Mapping, Sequence
from pathlib import Path
from subprocess import DEVNULL, PIPE, Popen, TimeoutExpired

# The leader of the group. Its input is a pipe whose other end this process holds: whatever ends
# this process, even SIGKILL, closes the pipe, and the group ends. Programs that start processes in
# other sessions (torchrun) get a moment to end them.
_WATCH = 'trap "" TERM INT HUP; read _; kill -TERM 0; sleep 0.5; kill -KILL 0'


def run_in_group(
    words: Sequence[str],
    folder: Path,
    *,
    environment: Mapping[str, str],
    out: Path,
    err: Path,
    seconds: float | None = None,
) -> int | None:
    """Run a command in `folder`, its output into two files: its exit code, None after `seconds`.

    The code of a command that a signal ended is minus its number. Processes that it leaves in its
    group are killed.
    """
    with out.open("wb") as printed, err.open("wb") as errors:
        watch = ["/bin/sh", "-c", _WATCH]
        # Leaving the block closes the pipe, and waits until the group has ended.
        with Popen(watch, stdin=PIPE, stdout=DEVNULL, stderr=DEVNULL, process_group=0) as leader:
            process = Popen(
                words, cwd=folder, env=environment, stdin=DEVNULL, stdout=printed, stderr=errors,
                process_group=leader.pid,
            )  # fmt: skip
            try:
                code = process.wait(seconds)
            except TimeoutExpired:
                code = None
            else:
                os.killpg(leader.pid, signal.SIGKILL)
        process.wait()
    return code
