"""The picture shows the cells, the lines and the regimes of the diagram."""

from __future__ import annotations

import numpy as np
import pytest

from sgdphase.diagram import draw, draw_figure, phase_diagram, plane_from_table
from sgdphase.errors import InputError


def colours(axes):
    """The values that the cells of a panel are coloured by, masked where there are none."""
    return axes.collections[0].get_array()


@pytest.mark.parametrize(("ending", "head"), [("png", b"PNG"), ("pdf", b"%PDF"), ("svg", b"<svg")])
def test_the_ending_names_the_format(model, tmp_path, ending, head):
    d = phase_diagram(plane_from_table(model.table(np.random.default_rng(0))))
    path = draw(d, tmp_path / f"diagram.{ending}")
    assert head in path.read_bytes()[:1000]


def test_what_the_picture_holds(model):
    d = phase_diagram(plane_from_table(model.table(np.random.default_rng(0))))
    left, right = draw_figure(d).axes[:2]
    for axes, name in ((left, "value"), (right, "test_error")):
        np.testing.assert_allclose(colours(axes), d.grid(name))
        line = [(np.log2(p.batch), np.log2(p.lr.value)) for p in d.gd_line]
        star = np.log2(d.critical_batch.value)
        drawn = [np.transpose(each.get_data()) for each in axes.lines]
        assert any(each.shape == (len(line), 2) and np.allclose(each, line) for each in drawn)
        assert any(np.allclose(each[:, 0], star) for each in drawn)
    words = {t.get_text() for t in left.texts}
    assert {"noise-\ndominated", "first-step-\ndominated", "GD", "$B^*$"} <= words
    assert left.get_xlabel() == "batch size $B$" and right.get_ylabel() == r"learning rate $\eta$"


@pytest.mark.parametrize("part", [{"lr": [4.0]}, {"lr": [4.0], "batch": [2.0], "seeds": 1}])
def test_poor_planes_are_drawn_too(model, part):
    d = phase_diagram(plane_from_table(model.table(np.random.default_rng(0), **part)))
    left = draw_figure(d).axes[0]
    np.testing.assert_allclose(colours(left), d.grid("value"))
    assert d.gd_line == () and [t.get_text() for t in left.texts] == []


def test_nothing_fitted_is_drawn_as_dots(model):
    table = model.table()
    table["status"][:] = "diverged"
    d = phase_diagram(plane_from_table(table))
    assert {c.regime for c in d.cells} == {"diverged"} and d.best is None
    [axes, _] = draw_figure(d).axes
    assert colours(axes).count() == 0
    [dots] = [line for line in axes.lines if line.get_marker() == "o"]
    places = {(np.log2(c.batch), np.log2(c.lr)) for c in d.cells}
    assert set(map(tuple, np.transpose(dots.get_data()))) == places


def test_bad_paths(model, tmp_path):
    d = phase_diagram(plane_from_table(model.table()))
    with pytest.raises(InputError, match=r"must end in \.png, \.pdf or \.svg"):
        draw(d, tmp_path / "diagram.txt")
    with pytest.raises(InputError, match="there is no folder"):
        draw(d, tmp_path / "no" / "diagram.png")
