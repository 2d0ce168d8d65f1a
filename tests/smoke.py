"""Every command of an installed sgdphase, once: `python tests/smoke.py PATH/OF/sgdphase`.

In an empty folder and without PyTorch, on trainings of milliseconds. The first call compiles.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from pathlib import Path

TRAIN = """
def train(lr, batch, epochs, seed):
    p = lr * epochs / batch * (1 + 0.002 * ((7 * seed + batch) % 5))
    return {"test_error": 0.1 / (1 + p), "steps": 640 * epochs // batch}
"""
# A valley in the learning rate for each batch, and the steps to a target.
ROWS = [
    f"{lr},{batch},{1 + (lr / 0.02 / batch**0.5 - 1) ** 2},{1000 / batch + 10}"
    for batch in (16, 32, 64, 128, 256)
    for lr in (0.02 * 2.0**k for k in range(7))
]
COMMANDS = """
--version
help
help ranges
help regimes
help store
theory scales
theory constants
train perceptron --train-size 64 --dim 4 --lr 1 --batch 4 --plot train.png
sweep perceptron --train-size 64 --dim 4 --lr 1..8 --batch 1,4,16 --store runs.sqlite --workers 0
runs runs.sqlite
export runs.sqlite runs.csv
diagram runs.sqlite --out diagram.png
report runs.sqlite report.html
explore runs.sqlite --out explorer.html
rule table.csv
equivalents table.csv
steps table.csv
figure figS9a --scale quick --workers 0 --out figures
claims figures
verify figures
data
diagnose mine.py --lr 0.5 --batch 8 --epochs 10 --batches 16,32 --seeds 3 --workers 0 --out page
"""


def main(program: Path) -> None:
    commands = [line.split() for line in COMMANDS.strip().splitlines()]
    listed = subprocess.run([program, "--help"], capture_output=True, text=True, check=True).stdout
    names = re.findall(r"^  (\w+) ", listed.partition("Commands:")[2], re.MULTILINE)
    left_out = set(names) - {words[0] for words in commands}
    if left_out or not names:
        sys.exit(f"not tried: {left_out or 'anything'}")
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "mine.py").write_text(TRAIN)
        Path(folder, "table.csv").write_text("\n".join(["lr,batch,loss,steps", *ROWS]))
        for words in commands:
            print("sgdphase", *words, flush=True)
            done = subprocess.run([program, *words], cwd=folder, capture_output=True, text=True)
            if done.returncode or not done.stdout + done.stderr:
                sys.exit(f"exit code {done.returncode}\n{done.stdout}{done.stderr}")
    print(f"{len(names)} commands work")


if __name__ == "__main__":
    main(Path(sys.argv[1]).absolute())
