"""The page of whatever there is to read about: a store, or the answer about a training."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from sgdphase._diagnose import Diagnosis, FittedDiagnosis
from sgdphase._report import batch_table, fitted
from sgdphase._report.page import page, png, write_file
from sgdphase._report.store import store_page
from sgdphase._sweep import Store
from sgdphase.errors import make_folder


def report(
    subject: Store | str | Path | Diagnosis | FittedDiagnosis,
    path: str | Path,
    *,
    observable: str = "alignment",
    factor: float = 2.0,
    **fixed: Any,
) -> Path:
    """Write one HTML page to read and to send; returns its path.

    The page of a store has the phase diagram and every run of each experiment in it; that of a
    diagnosis its answer and what the answer rests on.

    Parameters
    ----------
    subject : Store, str, Path, Diagnosis or FittedDiagnosis
        A store or its file, or what `diagnose` returned.
    path : str or Path
        Of a store: the page, which ends in .html. Of a diagnosis: the folder of `diagnosis.html`.
    observable : str, default "alignment"
        Of a store: what the regimes are read from.
    factor : float above 1, default 2
        Of a store: the GD line is where the observable is `factor` times its GD value.
    **fixed : Any
        Of a store: values that the runs must have, such as `train_size=1024`.

    Examples
    --------
    >>> import tempfile
    >>> from sgdphase import grid, sweep
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     store = sweep(grid(dim=8, train_size=32, batch=1, lr=[1, 2]), f"{folder}/r").store
    ...     report(store, f"{folder}/runs.html", train_size=32).name
    'runs.html'
    """
    if isinstance(subject, Diagnosis | FittedDiagnosis):
        return diagnosis_page(subject, Path(path))
    return store_page(subject, path, observable=observable, factor=factor, fixed=fixed)


def diagnosis_page(diagnosis: Diagnosis | FittedDiagnosis, folder: Path) -> Path:
    """Write `diagnosis.html` into `folder`, its pictures as PNG files, and `diagnosis.json`.

    A PNG of an earlier diagnosis that is not drawn now is deleted.
    """
    make_folder(folder)
    kind: Any = fitted if isinstance(diagnosis, FittedDiagnosis) else batch_table
    drawn = {}
    for name, figure in kind.draw(diagnosis).items():
        path = folder / f"diagnosis-{name}.png"
        if figure is None:
            path.unlink(missing_ok=True)
        else:
            drawn[name] = png(figure)
            write_file(path, drawn[name])
    write_file(folder / "diagnosis.json", json.dumps(diagnosis.as_dict(), indent=2))
    out = folder / "diagnosis.html"
    write_file(out, page(kind.TITLE, kind.parts(diagnosis, drawn)))
    return out
