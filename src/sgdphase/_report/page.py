"""The frame of a page: HTML that refers to nothing outside itself, and how it is written.

`Html` is text that is safe to put into a page. Everything else goes through `text`, which escapes.
"""

from __future__ import annotations

import base64
import io
import math
import os
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from html import escape
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from sgdphase._report.bundle import bundle, read
from sgdphase.diagram._style import save
from sgdphase.errors import InputError
from sgdphase.stats import Estimate, digits

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Endings of pages.
PAGES = (".html", ".htm")


class Html(str):
    __slots__ = ()


_STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; color: #1a1a1a; background: #fff;
       max-width: 62rem; margin: 0 auto; padding: 1rem; overflow-wrap: anywhere; }
h1 { font-size: 1.6rem; line-height: 1.2; } h2 { font-size: 1.25rem; margin-top: 2.2rem; }
h1, h2 { text-wrap: balance; }
section.first { background: #f2f6fa; border-left: 4px solid #0072b2; padding: .2rem 1rem; }
section.warning { background: #fdf3ec; border-left: 4px solid #d55e00; padding: .2rem 1rem; }
figure { margin: 1rem 0; } figcaption { color: #555; font-size: .9rem; }
img { max-width: 100%; height: auto; display: block; margin: 0 auto; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-size: .85rem; font-variant-numeric: tabular-nums; }
th, td { padding: .15rem .7rem .15rem 0; text-align: left; vertical-align: top;
         border-bottom: 1px solid #ddd; overflow-wrap: normal; }
td { min-width: 2.5rem; }
td.number { text-align: right; white-space: nowrap; }
summary { cursor: pointer; margin: .6rem 0; }
footer { color: #555; font-size: .85rem; margin-top: 3rem; border-top: 1px solid #ddd; }
@media print { body { font-size: 10pt; max-width: none; padding: 0; } .wide { overflow: visible; }
               figure, tr { break-inside: avoid; } h2 { break-after: avoid; }
               details:not([open]) { display: none; } }
"""
# With this policy a browser fetches nothing, whatever the page holds.
_POLICY = "default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src 'unsafe-inline'"


def page(title: str, parts: Iterable[Html]) -> Html:
    return Html(
        "<!DOCTYPE html>\n"
        '<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
        f"<title>{text(title)}</title>\n<style>{_STYLE}{read('parts.css')}</style>\n</head>\n"
        f"<body>\n<h1>{text(title)}</h1>\n{joined(parts)}\n"
        f"<footer><p>Made by sgdphase{text(version())}.</p></footer>\n"
        f"<script id='program'>{bundle('runs')}</script>\n</body>\n</html>\n"
    )


def text(value: object) -> Html:
    """Any text, with the special characters of HTML escaped.

    >>> text("a < b & 'c'")
    'a &lt; b &amp; &#x27;c&#x27;'
    """
    return Html(escape(str(value), quote=True))


def joined(parts: Iterable[Html]) -> Html:
    return Html("\n".join(parts))


def heading(title: str, anchor: str = "") -> Html:
    place = f' id="{text(anchor)}"' if anchor else ""
    return Html(f"<h2{place}>{text(title)}</h2>")


def paragraph(line: str) -> Html:
    return Html(f"<p>{text(line)}</p>")


def items(lines: Iterable[str]) -> Html:
    """A list with one entry per line; nothing if there are none."""
    entries = [f"<li>{text(line)}</li>" for line in lines]
    return Html("<ul>\n" + "\n".join(entries) + "\n</ul>") if entries else Html("")


def section(kind: str, parts: Iterable[Html]) -> Html:
    """Parts that stand out: `first` for the answer, `warning` for what limits it."""
    return Html(f'<section class="{text(kind)}">\n{joined(parts)}\n</section>')


def doubts(unknown: Sequence[str], warnings: Sequence[str]) -> list[Html]:
    """What limits an answer; nothing if it has no limits."""
    parts = [heading("Unknown"), items(unknown)] if unknown else []
    parts += [heading("Warnings"), section("warning", [items(warnings)])] if warnings else []
    return parts


def folded(summary: str, content: Html) -> Html:
    """Long content, closed until the reader opens it."""
    return Html(f"<details>\n<summary>{text(summary)}</summary>\n{content}\n</details>")


def link(label: str, anchor: str) -> Html:
    return Html(f'<a href="#{text(anchor)}">{text(label)}</a>')


def png(figure: Figure) -> bytes:
    out = io.BytesIO()
    save(figure, out, format="png")
    return out.getvalue()


def picture(content: bytes, caption: str, title: str) -> Html:
    """A PNG as part of the page."""
    data = base64.b64encode(content).decode("ascii")
    return Html(
        f'<figure>\n<img alt="{text(title)}" src="data:image/png;base64,{data}">\n'
        f"<figcaption>{text(caption)}</figcaption>\n</figure>"
    )


def table(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> Html:
    """Rows of values; an entry of type `Html` is not escaped."""
    head = "".join(f"<th>{text(name)}</th>" for name in columns)
    body = "\n".join("<tr>" + "".join(map(_entry, row)) + "</tr>" for row in rows)
    return Html(
        f'<div class="wide">\n<table>\n<thead><tr>{head}</tr></thead>\n'
        f"<tbody>\n{body}\n</tbody>\n</table>\n</div>"
    )


def pairs(values: Mapping[str, Any]) -> Html:
    return table(("", ""), values.items())


def show(value: Any) -> str:
    """A value as text: numbers with five digits, empty for no value.

    >>> show(0.123456), show(8192), show(float("nan")), show(None), show((1, 2.5)), show(True)
    ('0.12346', '8192', '', '', '1, 2.5', 'yes')
    """
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.0f}" if value.is_integer() and abs(value) < 1e9 else f"{value:.5g}"
    if isinstance(value, Mapping):
        return ", ".join(f"{name}: {show(item)}" for name, item in value.items())
    if isinstance(value, list | tuple | np.ndarray):
        return ", ".join(show(item) for item in value)
    return str(value)


def has_interval(estimate: Estimate) -> bool:
    """False for a number without interval, as from a single seed."""
    return bool(np.isfinite([estimate.low, estimate.high]).all())


def written(estimate: Estimate | None, count: int = 3) -> tuple[str, str]:
    """A number and its interval as texts, with `count` digits.

    >>> written(Estimate(16.54, 12.0, 20.0)), written(None)
    (('16.5', '12 to 20'), ('unknown', ''))
    """
    if estimate is None:
        return "unknown", ""
    ends = f"{digits(estimate.low, count)} to {digits(estimate.high, count)}"
    return digits(estimate.value, count), ends if has_interval(estimate) else ""


def write_file(path: Path, content: str | bytes) -> None:
    """Write the whole file or nothing, also if the disk is full or someone reads it now."""
    path = Path(os.path.realpath(path))  # a link stays one
    if path.exists() and not path.is_file():
        raise InputError(f"{path}: cannot be written (not a file)")
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        part.write_bytes(content.encode() if isinstance(content, str) else content)
        os.replace(part, path)
    except BaseException as error:
        with suppress(OSError):
            part.unlink()
        if isinstance(error, OSError):
            raise InputError(f"{path}: cannot be written ({error.strerror or error})") from None
        raise


def version() -> str:
    """The version, if the package is installed and not only on the path."""
    try:
        return f" {metadata.version('sgdphase')}"
    except metadata.PackageNotFoundError:
        return ""


def _entry(value: Any) -> str:
    if isinstance(value, Html):
        return f"<td>{value}</td>"
    number = isinstance(value, int | float | np.number) and not isinstance(value, bool)
    kind = ' class="number"' if number else ""
    return f"<td{kind}>{text(show(value))}</td>"
