"""The figures of trajectories at quick scale, end to end."""

from __future__ import annotations

import numpy as np
import pytest

from sgdphase._records import Outcome
from sgdphase._sweep import Run, grid
from sgdphase.diagram._style import save
from sgdphase.paper import fig2, figS1b
from sgdphase.theory import first_step, scales

# The claims of each figure, and those that three seeds and small sizes are enough for.
FIGURES = {
    "fig2": ("1a 1b 2a 3a 3b 3c", "1a 2a 3a"),
    "figS1a": ("1 2a 2b 2c", "2a 2c"),
    "fig3": ("1a 1b", "1a 1b"),
    "figS1b": ("1a 1b 2b", "1a"),
    "figS2b": ("2a 2b 2c", "2c"),
}


def of_marker(axes, marker):
    """The single points of a panel with this marker, in the order of drawing."""
    lines = [line for line in axes.lines if line.get_marker() == marker]
    return np.array([line.get_xydata()[0] for line in lines if len(line.get_xydata()) == 1])


def labelled(axes):
    """The lines of a panel that the legend names, without its empty entries."""
    lines = {line.get_label(): line.get_xydata() for line in axes.lines}
    return {name: xy for name, xy in lines.items() if name[0] != "_" and len(xy)}


@pytest.mark.parametrize("name", FIGURES)
def test_figure_at_quick_scale(name, made):
    own = made(name)
    ids, decided = (text.split() for text in FIGURES[name])
    assert list(own.claims) == [f"{name}.{id}" for id in ids]
    verdicts = {id: own.claims[f"{name}.{id}"].verdict for id in decided}
    assert verdicts == dict.fromkeys(decided, "holds")
    assert (own.out / f"{name}.png").stat().st_size > 10_000
    assert [line["id"] for line in own.written] == list(own.claims)


@pytest.mark.parametrize(("name", "momentum"), [("fig2", 0.0), ("figS1a", 0.9)])
def test_paths_begin_at_circles_and_end_at_stars(name, momentum, made):
    own = made(name)
    axes = own.picture.axes[0]
    batches = [2, 8, 32, 128, 512, 2048, 8192]
    assert list(labelled(axes)) == [f"$B={batch}$" for batch in batches]
    circles, stars = of_marker(axes, "o"), of_marker(axes, "*")
    for i, batch in enumerate(batches):
        (path,) = own.runs.trajectories(batch=batch, momentum=momentum, seed=0)
        np.testing.assert_allclose(circles[i], [path["w1"][0], path["w_perp"][0]])
        np.testing.assert_allclose(stars[i], [path["w1"][-1], path["w_perp"][-1]])


def test_the_loss_is_a_raster_in_a_pdf(made, tmp_path):
    save(made("fig2").picture, tmp_path / "fig2.pdf")
    written = (tmp_path / "fig2.pdf").read_bytes()
    assert written.startswith(b"%PDF") and b"/Subtype /Image" in written


def test_online_solution_with_momentum_is_ten_times_as_far(made):
    w_perp = [
        next(line for line in made(name).picture.axes[0].lines if line.get_linestyle() == "--")
        for name in ("fig2", "figS1a")
    ]
    ends = [line.get_ydata()[-1] for line in w_perp]
    limit = scales(train_size=8192, dim=64, chi=1.0, margin=0.01, lr=2.0, batch=1).w_perp
    assert ends == pytest.approx([limit, 10 * limit], rel=0.02)


def test_w1_in_time_with_its_theory(made):
    own = made("fig3")
    (axes,) = own.picture.axes
    batches = [1, 4, 16, 64, 256, 1024, 4096]
    lines, stars = labelled(axes), of_marker(axes, "*")
    for i, batch in enumerate(batches):
        (path,) = own.runs.trajectories(batch=batch, seed=0)
        np.testing.assert_allclose(lines[f"$B={batch}$"].T, [path["time"], path["w1"]])
        np.testing.assert_allclose(stars[i], [path["time"][-1], path["w1"][-1]])
    (level,) = [line.get_ydata()[0] for line in axes.lines if line.get_linestyle() == ":"]
    assert level == pytest.approx(first_step(lr=512.0, batch=1, dim=32, chi=1.0).w1)
    star = scales(train_size=4096, dim=32, chi=1.0, margin=2.0**-7).critical_batch
    dashed = [line for line in axes.lines if line.get_linestyle() == "--" and line.get_xdata().size]
    assert len(dashed) == sum(batch <= star / 4 for batch in batches)


def test_weights_with_decay_in_two_panels(made):
    own = made("figS1b")
    for axes, name in zip(own.picture.axes, ("w1", "w_perp"), strict=True):
        lines = labelled(axes)
        assert list(lines) == [
            r"$\Lambda=0$", r"$\Lambda=2^{-18}$", r"$\Lambda=2^{-16}$", r"$\Lambda=2^{-14}$",
            r"$\Lambda=2^{-12}$", "online SDE",
        ]  # fmt: skip
        for decay, xy in zip(own.runs.values("weight_decay"), lines.values(), strict=False):
            (path,) = own.runs.trajectories(weight_decay=decay, seed=0)
            every = 8 if decay else 1  # points between snapshots
            np.testing.assert_allclose(xy[::every].T, [path["time"], path[name]])
        # The dashed line of the strongest decay ends where the trainings settle.
        settled = [figS1b.settled(run, name) for run in own.runs.by_seed(weight_decay=2.0**-12)]
        assert lines["online SDE"][-1, 1] == pytest.approx(np.mean(settled), rel=0.1)


def test_large_batch_next_to_the_small_one(made):
    own = made("figS2b")
    for axes, name in zip(own.picture.axes, ("w1", "w_perp"), strict=True):
        lines = labelled(axes)
        assert list(lines) == [
            rf"$\Lambda={decay}$, $B={batch}$"
            for batch in (256, 8)
            for decay in ("0", "2^{-18}", "2^{-16}")
        ]
        dashed = [line for line in axes.lines if line.get_linestyle() == "--"]
        for decay, line in zip((2.0**-18, 2.0**-16), dashed[1:], strict=True):
            (path,) = own.runs.trajectories(batch=8, weight_decay=decay, seed=0)
            np.testing.assert_allclose(line.get_ydata()[::8], path[name])


def test_loss_is_zero_from_the_edge_on():
    outputs, w_perp = fig2.outputs(512, 16), np.array([0.1, 1.0, 10.0])
    for i, edge in enumerate(fig2.zero_loss(*outputs, w_perp)):
        loss = fig2.training_loss(*outputs, edge * np.array([0.999, 1.001]), w_perp[i : i + 1])[0]
        assert loss[0] > 0 == loss[1]


def test_loss_of_zero_weights_is_the_margin():
    loss = fig2.training_loss(*fig2.outputs(512, 16), np.zeros(1), np.zeros(1))
    assert np.allclose(loss, fig2.MARGIN)


def test_a_weight_settles_after_four_times_the_inverse_decay():
    path = {"time": np.array([1.0, 2.0, 4.0, 8.0]), "w1": np.array([1.0, 5.0, 2.0, 8.0])}
    (training,) = grid(dim=8, lr=1.0, batch=1, weight_decay=1.0, max_time=8.0)
    run = Run(training, Outcome("finished", 8, 8.0, {}, path), 0.0)
    assert figS1b.settled(run, "w1") == pytest.approx(4.0)


def test_first_time_of_a_condition():
    along = {"time": np.array([1.0, 2.0, 4.0]), "w1": np.array([1.0, 2.0, 8.0])}
    assert figS1b.first_time(along, along["w1"] > 1.5) == 2.0
    assert np.isnan(figS1b.first_time(along, along["w1"] > 9))


@pytest.mark.parametrize(("lands", "verdict"), [(0, "fails"), (5, "undecided"), (20, "holds")])
def test_share_of_seeds_that_land_in_the_white_area(lands, verdict, planted):
    def outcome(training):
        unfitted = 0.0 if training.seed < 100 + lands else 0.001
        path = {name: np.array([1.0, 2.0]) for name in ("time", "w1", "w_perp")}
        path["unfitted"] = np.array([unfitted, 0.0])
        return Outcome("fitted", 2, 2.0, {"norm": 1.0, "w_perp": 1.0, "w1": 1.0}, path)

    assert planted("fig2", outcome, "3c") == {"3c": verdict}


def test_weights_shrink_exponentially_between_snapshots():
    time = np.array([1.0, 2.0, 4.0])
    path = {"time": time, "w1": np.exp(-time), "w_perp": 3 * np.exp(-time)}
    fine = figS1b.between_snapshots(path)
    assert fine["time"].size == 17
    np.testing.assert_allclose(fine["w1"], np.exp(-fine["time"]))
    np.testing.assert_allclose(fine["time"][::8], time)
