"""The scripts of `examples/` that know nothing of sgdphase: the command in their first lines works.

Each takes a minute or more, and a library that the package does not need: `make test-examples`.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
# The script, and the library without which it is skipped.
SCRIPTS = {
    "pytorch_train": "torch",
    "huggingface_train": "transformers",
    "lightning_train": "lightning",
    "sklearn_train": "sklearn",
}


def words_of(script: str) -> list[str]:
    """The words after `sgdphase` in the docstring, as a shell reads them."""
    text = (ROOT / "examples" / f"{script}.py").read_text()
    start = text.index("diagnose --command")
    line = text[start : text.index('"""', start)]
    shell = ["/bin/sh", "-c", rf"printf '%s\0' {line}"]
    return subprocess.run(shell, capture_output=True, text=True).stdout.split("\0")[:-1]


@pytest.mark.parametrize("script", SCRIPTS)
def test_a_script_does_not_know_the_package(script: str) -> None:
    text = (ROOT / "examples" / f"{script}.py").read_text()
    assert "import sgdphase" not in text and "from sgdphase" not in text
    assert words_of(script)[1] == "--command"


@pytest.mark.examples
@pytest.mark.parametrize("script", SCRIPTS)
def test_one_command_gives_its_answer(script: str, tmp_path: Path) -> None:
    pytest.importorskip(SCRIPTS[script])
    environment = os.environ | {
        # `python` is the one that has the library.
        "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]),
    }
    call = [sys.executable, "-c", "from sgdphase.cli import main; main()", *words_of(script)]
    store = ["--store", str(tmp_path / "runs.sqlite"), "--budget", "20m", "--json"]
    done = subprocess.run(
        [*call, *store], cwd=ROOT, env=environment, capture_output=True, text=True, timeout=1500
    )
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    rows = {row["batch"]: row for row in answer["equivalents"]}
    wanted = words_of(script)[words_of(script).index("--batches") + 1]
    assert rows.keys() == set(map(int, wanted.split(",")))
    for row in rows.values():
        assert row["lr"]["value"] > 0 and answer["metric"] in row["metrics"]
    # The smallest of them is decided.
    assert rows[min(rows)]["verdict"] in ("the same", "not worse", "worse"), done.stdout
