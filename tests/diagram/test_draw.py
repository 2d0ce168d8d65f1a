"""The picture and the map in the terminal."""

from __future__ import annotations

from io import StringIO

import numpy as np
import pytest
from rich.console import Console, Group
from rich.text import Text

from sgdphase.diagram import draw, draw_figure, phase_diagram, plane_from_table
from sgdphase.diagram._terminal import map_lines
from sgdphase.errors import InputError


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


@pytest.mark.parametrize("ending", ["png", "pdf", "svg"])
def test_pictures_are_written(model, tmp_path, ending):
    d = phase_diagram(plane_from_table(model.table(np.random.default_rng(0))))
    path = draw(d, tmp_path / f"diagram.{ending}")
    assert path.stat().st_size > 5000


def test_what_the_picture_holds(model):
    d = phase_diagram(plane_from_table(model.table(np.random.default_rng(0))))
    left, right = draw_figure(d).axes[:2]
    words = {t.get_text() for t in left.texts}
    assert {"noise-\ndominated", "first-step-\ndominated", "GD", "$B^*$"} <= words
    assert left.get_xlabel() == "batch size $B$" and right.get_ylabel() == r"learning rate $\eta$"


@pytest.mark.parametrize("part", [{"lr": [4.0]}, {"lr": [4.0], "batch": [2.0], "seeds": 1}])
def test_poor_planes_are_drawn_too(model, tmp_path, part):
    d = phase_diagram(plane_from_table(model.table(np.random.default_rng(0), **part)))
    assert draw(d, tmp_path / "poor.png").exists() and "?" in shown(d)


def test_nothing_fitted_is_drawn_as_dots(model, tmp_path):
    table = model.table()
    table["status"][:] = "diverged"
    d = phase_diagram(plane_from_table(table))
    assert {c.regime for c in d.cells} == {"diverged"} and d.best is None
    assert draw(d, tmp_path / "dots.png").exists()


def test_bad_paths(model, tmp_path):
    d = phase_diagram(plane_from_table(model.table()))
    with pytest.raises(InputError, match=r"must end in \.png, \.pdf or \.svg"):
        draw(d, tmp_path / "diagram.txt")
    with pytest.raises(InputError, match="cannot be written"):
        draw(d, tmp_path / "no" / "diagram.png")
