"""A plain script sweeps, without `if __name__ == "__main__":`."""

import subprocess
import sys
from pathlib import Path

SCRIPT = """
import sgdphase as sp
plan = sp.grid(dim=8, train_size=32, lr=[1.0, 2.0], batch=[1, 2])
summary = sp.sweep(plan, "a.sqlite", workers=2)
print(summary.ran, __file__.endswith("script.py"), __spec__)
"""


def test_a_script_without_a_guard_sweeps_once(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    done = subprocess.run(
        [sys.executable, str(script)], cwd=tmp_path, capture_output=True, text=True, timeout=120
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "4 True None\n", "")
