"""The first command after an installation, and the second: seconds to the result of a training.

The package is copied to a new folder, so that nothing is compiled there yet.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from table import Row

import sgdphase

LINE = "train perceptron --train-size 1024 --dim 32 --lr 16 --batch 8 --seeds 1"


def main() -> list[Row]:
    package = Path(sgdphase.__file__).parent
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(
            package, Path(folder) / "sgdphase", ignore=shutil.ignore_patterns("__pycache__")
        )
        environment = {**os.environ, "PYTHONPATH": folder}
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        took = []
        for _ in range(2):
            began = time.perf_counter()
            command = [sys.executable, "-m", "sgdphase", *LINE.split()]
            subprocess.run(command, check=True, env=environment, cwd=folder, capture_output=True)
            took.append(time.perf_counter() - began)
    print(f"sgdphase {LINE}: {took[0]:.1f} s after an installation, {took[1]:.1f} s the next time")
    return [
        Row("first training after an installation", f"{took[0]:.1f} s", "8 s"),
        Row("the same the second time", f"{took[1]:.1f} s"),
    ]


if __name__ == "__main__":
    main()
