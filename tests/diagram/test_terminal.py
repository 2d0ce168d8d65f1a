"""The map in the terminal reads without colour."""

from __future__ import annotations

from io import StringIO

import numpy as np
import pytest
from rich.console import Console, Group
from rich.text import Text

from sgdphase.diagram import phase_diagram, plane_from_table
from sgdphase.diagram._terminal import map_lines


def shown(diagram, **options):
    console = Console(file=StringIO(), width=120, highlight=False, **options)
    console.print(Group(*(Text.assemble(*parts) for parts in map_lines(diagram))))
    return console.file.getvalue()


def test_the_map_reads_without_colour(model):
    table = model.table(np.random.default_rng(0))
    gone = (table["lr"] == 256) & (table["batch"] == 1)
    table["status"] = np.where(gone, "diverged", table["status"])
    d = phase_diagram(plane_from_table(table))
    lines = shown(d).splitlines()
    top = next(line for line in lines if line.lstrip().startswith("2^8"))
    bottom = next(line for line in lines if line.lstrip().startswith("2^-8"))
    assert top.split()[1:] == ["x", *"NNNNN", *top.split()[7:9], *"FFFF"]
    assert set(bottom.split()[1:]) <= {"G", "?"} and bottom.split()[-1] == "G"
    text = "\n".join(lines)
    for word in ("N  noise-dominated", "x  diverged", "critical batch B*", "[", "batch"):
        assert word in text
    assert "\x1b[" in shown(d, force_terminal=True, color_system="truecolor")


@pytest.mark.parametrize("part", [{"lr": [4.0]}, {"lr": [4.0], "batch": [2.0], "seeds": 1}])
def test_unclear_cells_are_marked(model, part):
    d = phase_diagram(plane_from_table(model.table(np.random.default_rng(0), **part)))
    row = next(line for line in shown(d).splitlines() if line.lstrip().startswith("2^2"))
    assert row.split()[1:] == ["?"] * len(d.cells)
