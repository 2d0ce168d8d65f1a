"""The page of a diagnosis, in reading order: training, advice, table, evidence."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from sgdphase._diagnose import Diagnosis
from sgdphase._diagnose.text import (
    SHARES,
    advice,
    better_lines,
    ended,
    headings,
    metric_name,
    reason,
    slopes_line,
    table_rows,
    value,
    your_training,
)
from sgdphase._report.fitted_pictures import reach
from sgdphase._report.page import Html, doubts, heading, pairs, paragraph, picture, section, table
from sgdphase._report.runs import every_run
from sgdphase.diagram import Equivalent
from sgdphase.diagram._style import BLUE, GREEN, GREY, ORANGE, new_figure
from sgdphase.stats import digits

if TYPE_CHECKING:
    from matplotlib.figure import Figure

TITLE = "Which learning rate goes with another batch?"

_COLOURS = {
    "the same": GREEN, "better": GREEN, "not worse": GREEN, "cannot tell": GREY, "worse": ORANGE,
}  # fmt: skip
_MOST_TICKS = 8
_GLOSSARY = {
    "lr": (
        "that learns the same: with it the training gets as far as yours in the same number of "
        "epochs: it matches the training loss, the true-class score and the change of the weights, "
        "compared seed by seed. The interval covers these matches and their noise."
    ),
    "the same, worse, better": (
        "the 90 % interval of the difference to your training, seed by seed, lies within the "
        "tolerance, or outside of it. The tolerance is 5 % of your value, or the standard "
        "deviation of your training over seeds if that is larger."
    ),
    "not worse": "the same or better: the worse end of the interval lies within the tolerance.",
    "cannot tell": "the interval crosses the edge of the tolerance.",
    "between": (
        "no learning rate was matched, but this one, which was tried, learns the same; the nearest "
        "that are worse lie at these ends (? where none was)."
    ),
    "none": (
        "no learning rate gives the same: the best one, which has worse ones on both sides, is "
        "worse than your training."
    ),
    "true-class score": (
        "the mean over test points of the score of the true class minus the mean of the others "
        "(for one output, label times output): how clearly the labels are learnt."
    ),
    "change of the weights": "the distance from the initial weights, divided by their norm.",
    "seed": "one split of the data (if you give no test data), initial weights and batch order.",
    "time-limited": "how far a training gets depends on lr x steps.",
    "noise-dominated": "what is learnt depends on lr/batch.",
    "first-step-dominated": "what is learnt depends on lr alone.",
    "gradient descent": "what is learnt depends neither on lr nor on the batch.",
}


def parts(d: Diagnosis, drawn: Mapping[str, bytes]) -> list[Html]:
    answer = [text for text in (*better_lines(d), advice(d), reason(d)) if text]
    captions = {"metric": _metric_caption, "rate": _rate_caption}
    return [
        paragraph(your_training(d)),
        section("first", map(paragraph, answer)),
        *([] if d.table is None else [table(headings(d), table_rows(d))]),
        *(picture(content, captions[name](d), name) for name, content in drawn.items()),
        *doubts(d.unknown, d.warnings),
        *([] if d.table is None else [heading("All metrics"), _metrics(d)]),
        heading("The regime"),
        paragraph(slopes_line(d) or d.regime.why or "Unknown."),
        heading("What was run"),
        pairs(_settings(d)),
        heading("Glossary"),
        pairs(_GLOSSARY),
        heading("Runs"),
        paragraph(
            f"The answer uses {d.trainings} trainings; the call took {d.seconds:.0f} s. {ended(d)}"
        ),
        every_run(d.runs),
    ]


def _settings(d: Diagnosis) -> dict[str, Any]:
    point = {"lr": d.lr, "batch": d.batch, "epochs": d.epochs, "train size": d.train_size}
    # Fixed in trainings of epochs; not chosen by the user.
    return {**point, **{k: v for k, v in d.settings.items() if k not in ("margin", "sampler")}}


def draw(d: Diagnosis) -> dict[str, Figure | None]:
    """The pictures by name; None without a row."""
    if d.table is None or not d.equivalents:
        return {"metric": None, "rate": None}
    return {"metric": metric_picture(d), "rate": rate_picture(d)}


def metric_picture(d: Diagnosis) -> Figure:
    """The deciding metric against the batch, along the recommended learning rates."""
    figure, axes = new_figure(size=(6.4, 3.8))
    assert d.table is not None
    rows, ours, tolerance = d.rows, d.table.yours.metrics[d.metric].value, d.table.tolerance
    scale = 100.0 if d.metric in SHARES else 1.0
    band = scale * (ours - tolerance), scale * (ours + tolerance)
    axes.axhspan(*band, color=BLUE, alpha=0.12, lw=0)
    axes.axhline(scale * ours, color=BLUE, lw=0.8)
    for row in rows:
        values = [
            scale * run.outcome.observables[d.metric]
            for run, t in ((run, run.training) for run in d.runs)
            if (t.lr, t.batch, t.epochs) == (row.lr.value, row.batch, d.epochs)
            and d.metric in run.outcome.observables
        ]
        axes.plot([row.batch] * len(values), values, ".", color="0.6", markersize=3, zorder=1)
        metric = row.metrics[d.metric]
        arms = reach(metric)
        colour = BLUE if row.batch == d.batch else _COLOURS[row.verdict]
        error = None if arms is None else scale * arms
        axes.errorbar([row.batch], [scale * metric.value], error, fmt="o", color=colour, capsize=3)
        axes.annotate(f"lr {digits(row.lr.value)}", (row.batch, scale * metric.value),
                      textcoords="offset points", xytext=(7, 7), fontsize=8)  # fmt: skip
    _log_batches(axes, rows)
    unit = ", %" if scale != 1 else ""
    axes.set_ylabel(f"{metric_name(d.metric)}{unit}")
    return figure


def rate_picture(d: Diagnosis) -> Figure:
    """The learning rate of each row, and the rule through them."""
    figure, axes = new_figure(size=(6.4, 3.4))
    rows = d.rows
    for row in rows:
        colour = BLUE if row.batch == d.batch else _COLOURS[row.verdict]
        error = None if row.by == "best" else reach(row.lr)
        axes.errorbar([row.batch], [row.lr.value], error, fmt="x" if row.exists is False else "o",
                      color=colour, capsize=3)  # fmt: skip
    rule = None if d.table is None else d.table.rule
    if rule is not None:
        x = np.geomspace(d.batch, max(rule.up_to_batch, d.batch), 50)
        low, middle, high = (
            d.lr * (x / d.batch) ** e
            for e in (rule.exponent.low, rule.exponent.value, rule.exponent.high)
        )
        axes.plot(x, middle, color=GREEN, lw=1)
        axes.fill_between(x, low, high, color=GREEN, alpha=0.15, lw=0)
    axes.set(yscale="log", ylabel="learning rate")
    # Yours, and by factors of two from it.
    octaves = [math.log2(row.lr.value / d.lr) for row in rows]
    ticks = [d.lr * 2.0**k for k in range(math.floor(min(octaves)), math.ceil(max(octaves)) + 1)]
    ticks = ticks[:: -(-len(ticks) // _MOST_TICKS)]
    axes.set_yticks(ticks, [digits(tick) for tick in ticks])
    _log_batches(axes, rows)
    return figure


def _log_batches(axes: Any, rows: list[Equivalent]) -> None:
    axes.set_xscale("log", base=2)
    axes.set_xticks([row.batch for row in rows], [str(row.batch) for row in rows])
    axes.minorticks_off()
    axes.set_xlim(rows[0].batch / 1.5, rows[-1].batch * 2)
    axes.set_xlabel("batch")


def _metric_caption(d: Diagnosis) -> str:
    end, limit = "", None if d.table is None else d.table.largest_batch
    if limit is not None:
        more = "" if math.isinf(limit.batch.high) else f" to {limit.batch.high:.0f}"
        end = (
            f" A curve through all rows stays within it up to batch {limit.batch.value:.0f} "
            f"(90 % interval: from {limit.batch.low:.0f}{more})."
        )
    return (
        f"The {metric_name(d.metric)} at the learning rate of each row, with 90 % intervals; small "
        f"dots are seeds. The band is your training with its tolerance.{end}"
    )


def _rate_caption(d: Diagnosis) -> str:
    rule = None if d.table is None else d.table.rule
    law = ""
    if rule is not None:
        e = rule.exponent
        law = (
            f" The line is lr = {digits(d.lr)} x (batch/{d.batch})^{e.value:.2f} "
            f"[{e.low:.2f}, {e.high:.2f}]."
        )
    return (
        f"The learning rate that learns the same. A cross is the best one where there is none.{law}"
    )


def _metrics(d: Diagnosis) -> Html:
    rows = d.rows
    names = list(rows[0].metrics)
    return table(
        ("batch", "lr", "seeds", *map(metric_name, names)),
        [
            (
                row.batch,
                digits(row.lr.value),
                row.seeds,
                *(value(row.metrics[name], name) if name in row.metrics else "" for name in names),
            )
            for row in rows
        ],
    )
