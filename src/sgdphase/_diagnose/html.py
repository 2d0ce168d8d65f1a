"""The table of an answer as HTML, for notebooks."""

from __future__ import annotations

from html import escape

from sgdphase._diagnose.answer import Diagnosis
from sgdphase._diagnose.text import advice, better_lr, headings, reason, table_rows, your_training

__all__ = ["answer_html"]


def answer_html(diagnosis: Diagnosis) -> str:
    """Which training it is about, the table, what to do, and why."""
    rows = "".join(_row(row, "td") for row in table_rows(diagnosis))
    head = _row(headings(diagnosis), "th") if rows else ""
    lists = "".join(
        f"<p>{title}:</p><ul>{''.join(f'<li>{escape(line)}</li>' for line in lines)}</ul>"
        for title, lines in (("Unknown", diagnosis.unknown), ("Warnings", diagnosis.warnings))
        if lines
    )
    return (
        f"<p>{escape(your_training(diagnosis))}</p>"
        f"<table><thead>{head}</thead><tbody>{rows}</tbody></table>"
        f"<p>{escape(better_lr(diagnosis))}</p>"
        f"<p><b>{escape(advice(diagnosis))}</b> {escape(reason(diagnosis))}</p>{lists}"
    )


def _row(cells: tuple[str, ...], tag: str) -> str:
    entries = "".join(f"<{tag}>{escape(cell)}</{tag}>" for cell in cells)
    return f"<tr>{entries}</tr>"
