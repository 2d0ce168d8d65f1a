"""The explorer: the phase diagram as one page to touch, with the user's runs or answer inside."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from sgdphase._report.bundle import bundle, read
from sgdphase._report.page import PAGES, version, write_file
from sgdphase._report.plane_data import table_plane
from sgdphase._report.store import experiments
from sgdphase._sweep import Store, table_of
from sgdphase.diagram._run_files import run_columns
from sgdphase.errors import InputError, check_output


def explorer_page(out: str | Path, own: str | Path | None = None) -> Path:
    """Write the explorer; returns its path.

    Parameters
    ----------
    out : str or Path
        The page, which ends in .html.
    own : str or Path, default None
        What the page shows as the user's: a store, its export as CSV, or the JSON that
        `sgdphase diagnose --json` prints.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     explorer_page(f"{folder}/explorer.html").stat().st_size < 400_000
    True
    """
    path = check_output(Path(out), PAGES)
    data = {
        "stored": json.loads(read("fig1a.json")),
        "example": json.loads(read("example.json")),
        "own": None if own is None else own_data(Path(own)),
    }
    page = read("index.html")
    # "<" could end the element that holds the data.
    parts = {
        "style": read("parts.css") + read("style.css"),
        "data": json.dumps(data, allow_nan=False).replace("<", "\\u003c"),
        "program": bundle("app"),
        "version": version(),
    }
    for name, text in parts.items():
        page = page.replace(f"{{{{{name}}}}}", text)
    write_file(path, page)
    return path


def own_data(path: Path) -> dict[str, Any]:
    """A store, a table of runs, or an answer, as the page takes it."""
    if not path.is_file():
        raise InputError(f"{path}: no such file; give a store, a CSV of runs or a diagnosis.json")
    if path.suffix == ".json":
        return {"kind": "diagnosis", "name": path.name, "json": _diagnosis(path)}
    if path.suffix in (".csv", ".gz"):
        return {"kind": "planes", "planes": [_plane(run_columns(path), path, path.name)]}
    groups = experiments(Store(path).runs())
    planes, reasons = [], []
    for group in groups:
        try:
            planes.append(_plane(table_of(group.runs), path, f"{path.name}: {group.title}"))
        except InputError as error:
            reasons.append(str(error))
    if not planes:
        raise InputError(f"{path}: has no plane to show ({reasons[0] if reasons else 'no runs'})")
    return {"kind": "planes", "planes": planes}


def _plane(table: dict[str, Any], path: Path, title: str) -> Any:
    if "alignment" not in table:  # runs of a command, or from elsewhere
        raise InputError(
            f"the runs have no alignment; `sgdphase equivalents {path} --json > answer.json` "
            "makes an answer that the explorer shows"
        )
    return table_plane(table, title)


def _diagnosis(path: Path) -> Any:
    try:
        answer = json.loads(path.read_text())
    except (OSError, ValueError, RecursionError) as error:
        raise InputError(f"{path}: cannot be read as JSON ({error})") from None
    keys = answer if isinstance(answer, dict) else {}
    if "equivalents" not in keys and "gd_line" not in keys:
        raise InputError(f"{path}: must be what `sgdphase diagnose --json` prints")
    return answer
