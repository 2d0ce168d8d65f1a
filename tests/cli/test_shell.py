"""What a shell expects: exit codes, no colours where none are wanted, pipes, completion."""

from __future__ import annotations

import os
import pty
import re
import subprocess
import sys
from pathlib import Path

import pytest

MAIN = [
    sys.executable,
    "-c",
    "import sys; sys.argv[0] = 'sgdphase'\nfrom sgdphase.cli import main; main()",
]
COLOUR = re.compile(r"\x1b\[[0-9;]*(?:3[0-8]|4[0-8]|9[0-7])[0-9;]*m")
ROWS = [
    f"{2.0**k},{b},{max(2.0**k / b, 2.0**k / 16, 0.1)}"
    for k in range(-4, 6)
    for b in (1, 4, 16, 64)
]


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """A plane with regimes, whose map has colours."""
    (tmp_path / "t.csv").write_text("\n".join(["lr,batch,alignment", *ROWS]))
    return tmp_path


def in_terminal(folder: Path, *words: str, **environment: str) -> str:
    """What a command shows on a terminal."""
    ours, theirs = pty.openpty()
    clean = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "TERM")}
    environment = clean | {"TERM": "xterm-256color", "COLUMNS": "100"} | environment
    process = subprocess.Popen(
        [*MAIN, *words], cwd=folder, env=environment, stdin=theirs, stdout=theirs, stderr=theirs
    )
    os.close(theirs)
    shown = b""
    while True:
        try:
            part = os.read(ours, 65536)
        except OSError:  # Linux: the other end is closed
            break
        if not part:
            break
        shown += part
    os.close(ours)
    assert process.wait(60) == 0, shown
    return shown.decode()


DIAGRAM = ("diagram", "t.csv", "--value", "alignment")


def test_no_color_is_honoured(table: Path) -> None:
    assert COLOUR.search(in_terminal(table, *DIAGRAM))
    assert not COLOUR.search(in_terminal(table, *DIAGRAM, NO_COLOR="1"))


def test_a_pipe_has_no_escapes_and_may_be_closed_early(table: Path) -> None:
    done = subprocess.run([*MAIN, *DIAGRAM], cwd=table, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0 and "\x1b" not in done.stdout + done.stderr
    with subprocess.Popen(
        [*MAIN, "theory", "constants"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as writer:
        assert writer.stdout is not None and writer.stderr is not None
        writer.stdout.close()
        assert writer.stderr.read() == "" and writer.wait(120) == 0


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        ("sgdphase swe", {"sweep"}),
        ("sgdphase help ", {"ranges", "regimes", "store"}),
        ("sgdphase sweep perceptron --max-t", {"--max-time"}),
    ],
)
def test_completion(words: str, offered: set[str]) -> None:
    count = len(words.split()) - (not words.endswith(" "))
    environment = os.environ | {
        "_SGDPHASE_COMPLETE": "complete_bash", "COMP_WORDS": words, "COMP_CWORD": str(count),
    }  # fmt: skip
    done = subprocess.run(MAIN, env=environment, capture_output=True, text=True, timeout=60)
    assert set(done.stdout.split()) == offered, done.stderr


def test_exit_codes_of_the_table(table: Path) -> None:
    """Those that `docs/command-line.md` lists; signals are tested in `test_stop`."""
    page = (Path(__file__).parents[2] / "docs/command-line.md").read_text()
    failing = ("sweep", "command", "false {lr} {batch}", "--metric", "a=json:m.json", "--lr", "1",
               "--batch", "1", "--store", "c.sqlite", "--slots", "0")  # fmt: skip
    for code, words in {0: ("help",), 1: failing, 2: ("help", "nothing")}.items():
        done = subprocess.run([*MAIN, *words], cwd=table, capture_output=True, timeout=60)
        assert done.returncode == code, done.stderr
        assert f"\n| {code} |" in page
