"""What `rule` found, as text."""

from __future__ import annotations

import math

from sgdphase._display import text_table
from sgdphase.diagram._best_rates import BestRate, BestRates
from sgdphase.diagram._rate_law import RateLaw
from sgdphase.diagram._run_table import named_values
from sgdphase.stats import Estimate, digits, shown


def rule_lines(best: BestRates) -> list[str]:
    """The table of best learning rates, then the law, the bend, and the best batch."""
    name = named_values(best.by)
    table = {
        "batch": [digits(row.batch, 6) for row in best.rows],
        "best lr": [_rate(row) for row in best.rows],
        best.metric: [shown(row.value, 4) if row.lr.value > 0 else "" for row in best.rows],
        "runs": [row.runs for row in best.rows],
        "diverged": [row.diverged or "" for row in best.rows],
    }
    lines = [f"Best learning rate of each batch{f' ({name})' if name else ''}:"]
    lines += [f"  {line}" for line in text_table(table)]
    lines += _law_lines(best)
    lines += _batch_lines(best)
    return lines + [f"note: {note}" for note in best.notes]


def _rate(row: BestRate) -> str:
    if row.place == "too few runs":
        return "unknown"
    value = digits(row.lr.value)
    if row.place == "below the range":
        return f"{value} or less [?, {digits(row.lr.high) or '?'}] (smallest tried)"
    if row.place == "above the range":
        return f"{value} or more [{digits(row.lr.low) or '?'}, ?] (largest tried)"
    if math.isnan(row.lr.low) and math.isnan(row.lr.high):
        return f"{value} [no interval]"
    low = digits(row.lr.low) or "?"
    high = digits(row.lr.high) or "?"
    return f"{value} [{low}, {high}]" + " (largest stable)" * (row.place == "largest stable")


def _law(law: RateLaw) -> str:
    return f"batch^{_two(law.exponent)} from batch {digits(law.first, 4)} to {digits(law.last, 4)}"


def _two(e: Estimate) -> str:
    texts = [f"{x:.2f}".replace("-0.00", "0.00") for x in (e.value, e.low, e.high)]
    if math.isnan(e.low):
        return f"{texts[0]} [no interval]"
    return f"{texts[0]} [{texts[1]}, {texts[2]}]"


def _law_lines(best: BestRates) -> list[str]:
    if best.law is None:
        return ["Rule: unknown; it takes two batches whose best learning rate was found."]
    if best.bend is None:
        return [f"Rule: lr ~ {_law(best.law)}."]
    below, above = best.pieces
    return [
        f"Rule: lr ~ {_law(below)}, then lr ~ {_law(above)}; it bends at batch "
        f"{shown(best.bend)}. One law for all would be batch^{_two(best.law.exponent)}."
    ]


def _whole(batch: float) -> str:
    return "" if math.isnan(batch) else f"{batch:.0f}"


def _batch_lines(best: BestRates) -> list[str]:
    if best.best_batch is None:
        return []
    known = [row for row in best.rows if row.lr.value > 0]
    b = best.best_batch
    low = _whole(b.low) or f"{_whole(known[0].batch)} or less"
    high = _whole(b.high) or f"{_whole(known[-1].batch)} or more"
    row = (max if best.maximize else min)(known, key=lambda row: row.value.value)
    most = "highest" if best.maximize else "lowest"
    value = f"the {most} {best.metric} is {row.value.value:.4g}, at batch {_whole(row.batch)}"
    return [f"Best batch: {_whole(b.value)} [{low}, {high}]; {value}."]
