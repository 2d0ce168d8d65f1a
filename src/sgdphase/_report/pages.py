"""The page of whatever there is to read about: a store, or the answer about a training."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sgdphase._diagnose import Diagnosis, FittedDiagnosis
from sgdphase._report.batch_table import equivalents_page
from sgdphase._report.fitted import fitted_page, make_folder
from sgdphase._report.store import store_page
from sgdphase._sweep import Store


def report(
    subject: Store | str | Path | Diagnosis | FittedDiagnosis,
    path: str | Path,
    *,
    observable: str = "alignment",
    factor: float = 2.0,
    **fixed: Any,
) -> Path:
    """Write one HTML page to read and to send; returns its path.

    Of a store, `path` is the page: phase diagrams and every run of each experiment, for runs with
    the values `fixed`. Of a diagnosis, `path` is the folder of `diagnosis.html`.
    """
    if isinstance(subject, Diagnosis | FittedDiagnosis):
        return diagnosis_page(subject, Path(path))
    return store_page(subject, path, observable=observable, factor=factor, fixed=fixed)


def diagnosis_page(diagnosis: Diagnosis | FittedDiagnosis, folder: Path) -> Path:
    """Write `diagnosis.html` into `folder`, with its pictures inside and as PNG files."""
    make_folder(folder)
    if isinstance(diagnosis, FittedDiagnosis):
        return fitted_page(diagnosis, folder)
    return equivalents_page(diagnosis, folder)
