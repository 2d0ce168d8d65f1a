"""Do what docs/quick-start.md says, in an empty folder and an empty environment, by the clock.

python docs/run_quick_start.py
"""

from __future__ import annotations

import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).parents[1]
NOT_COPIED = shutil.ignore_patterns(".git", ".venv", "build", "dist", "out", "__pycache__")


def main() -> int:
    page = (ROOT / "docs/quick-start.md").read_text()
    # What comes before the answer: indented lines are commands, the fenced block is the file.
    steps = page[: page.index("## 4. ")]
    (file,) = re.findall(r"^```python\n(.*?)^```$", steps, re.MULTILINE | re.DOTALL)
    commands = re.findall(r"^    (.+)$", re.sub(r"```.*?```", "", steps, flags=re.DOTALL), re.M)
    with tempfile.TemporaryDirectory() as folder:
        copy = shutil.copytree(ROOT, Path(folder) / "sgdphase", ignore=NOT_COPIED)
        (copy / "my_training.py").write_text(file)
        start = time.monotonic()
        script = "\n".join(["set -e", "unset PYTHONPATH", *commands])
        done = subprocess.run(["bash", "-xc", script], cwd=copy)
        minutes = (time.monotonic() - start) / 60
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        answered = done.returncode == 0 and (copy / "report/diagnosis.html").exists()
    # On a busy machine the clock says more than the work.
    work = (used.ru_utime + used.ru_stime) / 60
    print(f"{len(commands)} commands, {minutes:.1f} minutes by the clock ({work:.1f} of one core)")
    print(f"an answer: {answered}")
    return 0 if answered and minutes <= 10 else 1


if __name__ == "__main__":
    sys.exit(main())
