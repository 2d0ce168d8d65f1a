"""The answer as text: which training it is about, the table, what to do, and why."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape

from sgdphase._diagnose.answer import Diagnosis
from sgdphase._display import html_table
from sgdphase.diagram import Equivalent
from sgdphase.diagram._four_regimes import DESCENT, UNFINISHED
from sgdphase.stats import Estimate, digits, shown, shown_whole

_METRICS = {
    "test_mse": "test mean squared error",
    "train_loss": "training loss",
    "train_error": "training error",
    # The name of the paper; the glossary of the page explains it.
    "alignment": "true-class score",
    "weight_change": "change of the weights",
}
# The settings that the first line names, unless they are 0 or constant.
_SETTINGS = {
    "optimizer": "{}",
    "momentum": "momentum {:g}",
    "weight decay": "weight decay {:g}",
    "schedule": "{} schedule",
    "warmup": "warm-up {:g}",
    "loss": "{}",
    "trained by": "trained by {}",
}
_USUAL_NAMES = {"sgd": "SGD", "adamw": "AdamW", "mse": "mean squared error"}
SHARES = ("test_error", "train_error")
_REASONS = {
    "time-limited": (
        "How far your training gets depends on lr x steps. A larger batch takes fewer steps in the "
        "same epochs, and a larger lr makes up for them as long as such steps are stable."
    ),
    "noise-dominated": (
        "What your training learns depends on lr/batch, the noise of the steps, and hardly on how "
        "long it runs."
    ),
    UNFINISHED: (
        "What your training learns depends on lr/batch, the noise of the steps, and still grows "
        "slowly with the number of epochs."
    ),
    "first-step-dominated": (
        "What your training learns depends on lr and hardly on the batch or the number of epochs: "
        "the first steps decide."
    ),
    DESCENT: (
        "What your training learns hardly depends on lr, batch or epochs: it has reached its end."
    ),
}


def answer_lines(diagnosis: Diagnosis) -> list[str]:
    lines = [your_training(diagnosis), *better_lines(diagnosis)]
    lines += [f"  {line}" for line in table_lines(diagnosis)]
    lines += filter(None, (text(diagnosis) for text in (advice, reason, slopes_line, ended)))
    return with_doubts(lines, diagnosis.unknown, diagnosis.warnings)


def with_doubts(lines: list[str], unknown: Sequence[str], warnings: Sequence[str]) -> list[str]:
    """The lines of an answer, then what is unknown, and what to be careful about."""
    for title, listed in (("Unknown", unknown), ("Warnings", warnings)):
        lines = [*lines, f"{title}:", *(f"  - {line}" for line in listed)] if listed else lines
    return lines


def answer_html(diagnosis: Diagnosis) -> str:
    """The same for notebooks."""
    lists = "".join(
        f"<p>{title}:</p><ul>{''.join(f'<li>{escape(line)}</li>' for line in lines)}</ul>"
        for title, lines in (("Unknown", diagnosis.unknown), ("Warnings", diagnosis.warnings))
        if lines
    )
    return (
        f"<p>{escape(' '.join([your_training(diagnosis), *better_lines(diagnosis)]))}</p>"
        f"{html_table(headings(diagnosis), table_rows(diagnosis))}"
        f"<p><b>{escape(advice(diagnosis))}</b> {escape(reason(diagnosis))}</p>"
        f"<p>{escape(ended(diagnosis))}</p>{lists}"
    )


def your_training(d: Diagnosis) -> str:
    """The first line: what was trained."""
    parts = [f"batch {d.batch}", f"lr {digits(d.lr)}"]
    parts += [f"{d.epochs} epoch{'s' * (d.epochs > 1)}"] if d.epochs else []
    for name, text in _SETTINGS.items():
        if (setting := d.settings.get(name)) and setting != "constant":
            parts.append(text.format(_USUAL_NAMES.get(setting, setting)))
    parts += [f"{d.train_size} points"] if d.train_size else []
    result = ""
    if d.table is not None:
        ours, size = d.table.yours.metrics[d.metric], d.table.tolerance
        within = (
            f"{digits(100 * size, 2)} percentage points" if d.metric in SHARES else digits(size, 2)
        )
        result = f": {metric_name(d.metric)} {value(ours, d.metric)}"
        result += f" (± {within} counts as the same)"
    return f"Your training: {', '.join(parts)}{result}"


def table_lines(d: Diagnosis) -> list[str]:
    rows = table_rows(d)
    if not rows:
        return []
    lines = (headings(d), *rows)
    widths = [max(len(row[k]) for row in lines) for k in range(len(lines[0]))]
    right = (True, False, False, False, True, False)
    return [
        "   ".join(
            cell.rjust(width) if to_right else cell.ljust(width)
            for cell, width, to_right in zip(row, widths, right, strict=True)
            if width
        ).rstrip()
        for row in lines
    ]


def headings(d: Diagnosis) -> tuple[str, ...]:
    # A command does not tell its steps.
    steps = "steps" if any(row.steps for row in d.rows) else ""
    return ("batch", "lr", metric_name(d.metric), "against yours", steps, "")


def table_rows(d: Diagnosis) -> list[tuple[str, ...]]:
    return [row_cells(d, row) for row in d.rows]


def row_cells(d: Diagnosis, row: Equivalent) -> tuple[str, str, str, str, str, str]:
    """The texts of a row: batch, lr, metric, verdict, steps, remarks."""
    yours = row.batch == d.batch
    also = [
        f"{metric_name(name)} {abs(change):.0%} {'higher' if change > 0 else 'lower'}"
        for name, change in row.differs.items()
        # Only how far it got: other errors are higher where the deciding metric is, anyway.
        if d.table is not None and name in d.table.observables
    ]
    decay = d.changed_decay(row)
    if decay is not None and not yours:
        also.append(f"weight decay acts {decay:.2g} times as much")
    if not row.bracketed and row.verdict == "worse":
        also.append("a better lr may lie outside the tried range")
    if row.by == "best" and row.exists is None and row.rival is not None:
        also.append(f"lr {digits(row.rival)} may be better: too few seeds")
    return (
        str(row.batch),
        _rate(row, yours=yours),
        value(row.metrics[d.metric], d.metric) if d.metric in row.metrics else "",
        "" if yours else row.verdict,
        str(row.steps or ""),
        ", ".join(also),
    )


def _rate(row: Equivalent, *, yours: bool) -> str:
    if yours:
        return f"{digits(row.lr.value)} (yours)"
    if row.exists is False:
        return f"none: best is lr {digits(row.lr.value)}"
    if row.by != "best":
        return shown(row.lr)
    if row.exists:
        low, high = (digits(end) or "?" for end in (row.lr.low, row.lr.high))
        if low == high == "?":
            return f"{digits(row.lr.value)}; others may do, too"
        return f"{digits(row.lr.value)}; between {low} and {high}"
    return f"{digits(row.lr.value)} (best of {row.tried or 'those'} tried)"


def advice(d: Diagnosis) -> str:
    """What to do, in one or two sentences."""
    if d.table is None:
        return "Your training gives no result to compare with: see below."
    if not d.equivalents:
        return "No other batch was compared with yours."
    larger = [row.batch for row in d.equivalents if row.batch > d.batch]
    if not larger:
        return "Each row has the lr that goes with its batch."
    best, none, limit = d.recommended, d.first_none, d.table.largest_batch
    sentences = []
    if best is not None:
        sentences.append(f"Raise the batch to {best.batch}, with lr = {_formula(d, best)}.")
    elif none is not None and none.batch == min(larger):
        if none.batch <= 2 * d.batch or (limit and limit.batch.high < 2 * d.batch):
            sentences.append(f"Stay at batch {d.batch}.")
        else:
            between = f"between {d.batch} and {none.batch}"
            sentences.append(f"No batch {between} was compared with yours, and one may do.")
    else:
        sentences.append("Whether a larger batch learns the same is open: see below.")
    if none is not None:
        # If lr x steps decides, and the training got less far, what is missing are steps.
        lost = d.regime.name == "time-limited" and set(none.differs) & set(d.table.observables)
        what = "makes up for the lost steps" if lost else f"gives the same {metric_name(d.metric)}"
        sentences.append(f"From {none.batch} on no learning rate {what}.")
    if limit is not None and not math.isinf(limit.batch.high):
        sentences.append(
            f"On a curve through all rows, the {metric_name(d.metric)} stays within the tolerance "
            f"up to batch {shown_whole(limit.batch)}."
        )
    return " ".join(sentences)


def better_lines(d: Diagnosis) -> list[str]:
    """Settings that are clearly better than the user's: these come first."""
    if d.table is None or not d.table.better:
        return []
    ours, more = d.table.yours.metrics[d.metric], "higher" if d.table.maximize else "lower"
    lines = [
        f"A {more} {metric_name(d.metric)}"
        f"{', at your batch' if row.batch == d.batch else f': batch {row.batch}'}, "
        f"lr {digits(row.lr.value)}: {value(row.metrics[d.metric], d.metric)} "
        f"instead of {value(ours, d.metric).partition(' [')[0]}."
        for row in d.table.better
    ]
    return [
        *lines,
        "Rows are compared with your training as it is; to raise the batch of a better one, ask "
        "again with its batch and lr.",
    ]


def ended(d: Diagnosis) -> str:
    """Why the search ended."""
    return f"The search ended: {d.ended}." if d.ended else ""


def _formula(d: Diagnosis, best: Equivalent) -> str:
    """The rule if it reaches the recommended row; else the lr of that row, and the rule."""
    rule = None if d.table is None else d.table.rule
    if rule is None or rule.up_to_batch <= d.batch:
        return digits(best.lr.value)
    e = rule.exponent
    power, low, high = (f"{x + 0.0:.2f}".replace("-0.00", "0.00") for x in (e.value, e.low, e.high))
    law = f"{digits(d.lr)} x (batch/{d.batch})^{power} [{low}, {high}]"
    if rule.up_to_batch >= best.batch:
        return law
    return f"{digits(best.lr.value)} (up to {rule.up_to_batch}: {law})"


def reason(d: Diagnosis) -> str:
    """Why, in one or two plain sentences."""
    if not d.is_sgd or d.table is None or not d.equivalents:
        return ""
    if d.regime.name in _REASONS:
        return _REASONS[d.regime.name]
    if d.regime.between is not None:
        return f"Your training is between two regimes: {' and '.join(d.regime.between)}."
    return ""


def slopes_line(d: Diagnosis) -> str:
    """The regime and its slopes, for those who want them."""
    slopes = d.regime.slopes
    if slopes is None:
        return ""
    parts = [("lr", slopes.lr), ("batch", slopes.batch), ("epochs", slopes.epochs)]
    listed = ", ".join(f"{shown(s, 2)} in {name}" for name, s in parts if s is not None)
    named = ""
    if d.is_sgd:
        sure = "" if d.regime.confidence is None else f" (confidence {d.regime.confidence:.2f})"
        known = d.regime.name or (d.regime.between and f"between {' and '.join(d.regime.between)}")
        named = f"Regime: {known}{sure}. " if known else "Regime: cannot tell. "
    return f"{named}Slopes of the logarithm of the {metric_name(slopes.observable)}: {listed}."


def metric_name(name: str) -> str:
    return _METRICS.get(name, name.replace("_", " "))


def value(estimate: Estimate, metric: str) -> str:
    """A metric with its interval; shares in per cent.

    >>> value(Estimate(0.04, 0.037, 0.043), "test_error"), value(Estimate(1.5, 1.25, 1.75), "loss")
    ('4.0 % [3.7, 4.3]', '1.5 [1.25, 1.75]')
    """
    if metric not in SHARES:
        return shown(estimate)
    ends = (100 * max(estimate.low, 0.0), 100 * estimate.high)
    between = f" [{ends[0]:.1f}, {ends[1]:.1f}]" if all(map(math.isfinite, ends)) else ""
    return f"{100 * estimate.value:.1f} %{between}"
