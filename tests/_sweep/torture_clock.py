"""As `sitecustomize`: the clock of the day jumps by TORTURE_JUMP seconds, TORTURE_AFTER seconds in.

This is `time.time` of Python, here and in worker processes; the clock of the system stays.
"""

from __future__ import annotations

import os
import time

if "TORTURE_JUMP" in os.environ:
    _now, _now_ns = time.time, time.time_ns
    _since, _jump = float(os.environ["TORTURE_SINCE"]), float(os.environ["TORTURE_JUMP"])

    def _shift() -> float:
        return _jump if time.monotonic() >= _since else 0.0

    time.time = lambda: _now() + _shift()
    time.time_ns = lambda: _now_ns() + int(_shift() * 1e9)
