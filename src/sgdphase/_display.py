"""Objects whose `repr` is the answer: a few lines, a small table, and a DataFrame of it all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from textwrap import wrap
from typing import Any

from sgdphase._extras import extra

# Lists or arrays of one length, by name.
Columns = Mapping[str, Any]

# A table is cut here, so that an answer fits a screen.
_MOST_ROWS = 20
# Of a column of texts.
_MOST_TEXTS = 6


class Shown:
    """A record that says in `_lines` what it is, in `_summary` shows a table, and has a `_table`.

    The summary is cut if it is long; `to_pandas` gives the whole table.
    """

    def _lines(self) -> Sequence[str]:
        raise NotImplementedError

    def _summary(self) -> Columns:
        return {}

    def _table(self) -> Columns:
        return self._summary()

    def __repr__(self) -> str:
        return "\n".join([*self._lines(), *text_table(self._summary())])

    def _repr_html_(self) -> str:
        lines = "".join(f"<p>{escape(line)}</p>" for line in self._lines())
        columns = self._summary()
        rows = zip(*(column[:_MOST_ROWS] for column in columns.values()), strict=True)
        rest = "".join(f"<p>{line}</p>" for line in _cut(columns))
        return lines + html_table(list(columns), list(rows)) + rest

    def to_pandas(self) -> Any:
        """The table as a `pandas.DataFrame`."""
        table = {name: list(column) for name, column in self._table().items()}
        return extra("pandas", "export").DataFrame(table)


class ShownFields(Shown):
    """A record of numbers, or of arrays of one shape, whose fields are its table."""

    def _lines(self) -> list[str]:
        return [type(self).__name__]

    def _summary(self) -> Columns:
        values = vars(self)
        if any(getattr(value, "shape", ()) for value in values.values()):
            return {name: value.ravel() for name, value in values.items()}
        return {"name": list(values), "value": list(values.values())}


class ShortArrays:
    """A record that shows the type and the shape of its arrays, not their content."""

    def __repr__(self) -> str:
        shown = {
            name: f"{each.dtype} {list(each.shape)}" if hasattr(each, "dtype") else repr(each)
            for name, each in vars(self).items()
        }
        return f"{type(self).__name__}({', '.join(f'{n}={text}' for n, text in shown.items())})"


class ShownTable(Shown, dict[str, Any]):
    """A table as a dict of columns, shown by the values in each of them.

    >>> ShownTable(chi=[1.0, 1.0, 1.0], lr=[0.5, 1.0, 2.0], time=[3.0, float("nan"), 7.0])
    3 rows, 3 columns
    the same in all rows: chi 1
    column  values
    lr      0.5 to 2 (3 values)
    time    3 to 7 (2 values)
    """

    def _lines(self) -> list[str]:
        spans = self._spans()
        rows = max(map(len, self.values()), default=0)
        same = ", ".join(f"{name} {text}" for name, (text, varies) in spans.items() if not varies)
        common = wrap(f"the same in all rows: {same}", 100) if same else []
        return [f"{rows} rows, {len(self)} columns", *common]

    def _summary(self) -> Columns:
        varying = {name: text for name, (text, varies) in self._spans().items() if varies}
        return {"column": list(varying), "values": list(varying.values())}

    def _table(self) -> Columns:
        return self

    def _spans(self) -> dict[str, tuple[str, bool]]:
        """The values of each column that has any, and whether there are several."""
        spans = {}
        for name, column in self.items():
            values = {value: None for value in column if value == value and value != ""}
            if values:
                spans[name] = span([*values]), len(values) > 1
        return spans


def text_table(columns: Columns) -> list[str]:
    """Lines of text: numbers to the right, words to the left; none without rows.

    >>> text_table({"batch": [8, 16], "verdict": ["the same", "none"]})
    ['batch  verdict', '    8  the same', '   16  none']
    """
    parts = []
    if not any(len(column) for column in columns.values()):
        return []
    for name, column in columns.items():
        cells = [cell(value) for value in column[:_MOST_ROWS]]
        width = max(map(len, [name, *cells]))
        right = any(not isinstance(value, str) for value in column)
        parts.append([text.rjust(width) if right else text.ljust(width) for text in (name, *cells)])
    return ["  ".join(row).rstrip() for row in zip(*parts, strict=True)] + _cut(columns)


def html_table(names: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """A table for notebooks, with everything escaped; nothing without rows.

    >>> html_table(["<b>"], [[1]])
    '<table><thead><tr><th>&lt;b&gt;</th></tr></thead><tbody><tr><td>1</td></tr></tbody></table>'
    """
    body = "".join(_row(row, "td") for row in rows)
    return f"<table><thead>{_row(names, 'th')}</thead><tbody>{body}</tbody></table>" if rows else ""


def cell(value: Any) -> str:
    """A value for a reader: five digits of a number, nothing where there is none."""
    value = value.item() if hasattr(value, "item") else value
    if value is None or value != value:
        return ""
    return f"{value:.5g}" if isinstance(value, float) else str(value)


def span(values: Sequence[Any]) -> str:
    """What a parameter takes: its only value, or the range of its values and their number.

    >>> span([0.5]), span([1, 2, 4]), span(["fc", "mobilenet"])
    ('0.5', '1 to 4 (3 values)', 'fc, mobilenet')
    """
    distinct = list(dict.fromkeys(values))
    if len(distinct) == 1 or any(isinstance(value, str) for value in distinct):
        more = f" and {len(distinct) - _MOST_TEXTS} more" if len(distinct) > _MOST_TEXTS else ""
        return ", ".join(map(cell, distinct[:_MOST_TEXTS])) + more
    return f"{cell(min(distinct))} to {cell(max(distinct))} ({len(distinct)} values)"


def _row(values: Sequence[Any], tag: str) -> str:
    return f"<tr>{''.join(f'<{tag}>{escape(cell(value))}</{tag}>' for value in values)}</tr>"


def _cut(columns: Columns) -> list[str]:
    more = max((len(column) for column in columns.values()), default=0) - _MOST_ROWS
    return [f"... and {more} more rows"] if more > 0 else []
