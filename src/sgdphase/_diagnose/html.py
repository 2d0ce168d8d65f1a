"""The table of an answer as HTML, for notebooks."""

from __future__ import annotations

from html import escape

from sgdphase._diagnose.answer import Diagnosis
from sgdphase._diagnose.text import advice, better_lr, headings, reason, table_rows, your_training
from sgdphase._display import html_table

__all__ = ["answer_html"]


def answer_html(diagnosis: Diagnosis) -> str:
    """Which training it is about, the table, what to do, and why."""
    lists = "".join(
        f"<p>{title}:</p><ul>{''.join(f'<li>{escape(line)}</li>' for line in lines)}</ul>"
        for title, lines in (("Unknown", diagnosis.unknown), ("Warnings", diagnosis.warnings))
        if lines
    )
    return (
        f"<p>{escape(your_training(diagnosis))}</p>"
        f"{html_table(headings(diagnosis), table_rows(diagnosis))}"
        f"<p>{escape(better_lr(diagnosis))}</p>"
        f"<p><b>{escape(advice(diagnosis))}</b> {escape(reason(diagnosis))}</p>{lists}"
    )
