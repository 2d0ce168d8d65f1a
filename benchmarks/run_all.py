"""Every benchmark of speed, and one table of what they measured: `make bench`.

On idle cores. The table is printed at the end, in Markdown, and written to `build/bench.md`.
Benchmarks of answers, which take hours, are apart: bench_equivalents.py, bench_learner.py,
bench_own.py, coverage_best_lr.py and coverage_equivalents.py.
"""

from __future__ import annotations

from pathlib import Path

import bench
import bench_clocks
import bench_first_run
import bench_networks
import bench_scale
from table import Row, markdown

BENCHMARKS = (bench_first_run, bench, bench_networks, bench_clocks, bench_scale)


def main() -> None:
    rows: list[Row] = []
    for each in BENCHMARKS:
        print(f"\n== {each.__name__}", flush=True)
        rows += each.main()
    text = markdown(rows) + "\n"
    out = Path("build")
    out.mkdir(exist_ok=True)
    (out / "bench.md").write_text(text)
    print(f"\n{text}")


if __name__ == "__main__":
    main()
