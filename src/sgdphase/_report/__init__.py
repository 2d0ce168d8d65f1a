"""Pages to read and to send: one HTML file with its pictures, its numbers and every run.

A page only shows results of other rooms; nothing is estimated here.
"""

from __future__ import annotations

from pathlib import Path

from sgdphase._diagnose import Diagnosis, FittedDiagnosis
from sgdphase._report.batch_table import equivalents_page
from sgdphase._report.fitted import fitted_page, make_folder
from sgdphase._report.store import store_page

__all__ = ["diagnosis_page", "make_folder", "store_page"]


def diagnosis_page(diagnosis: Diagnosis | FittedDiagnosis, folder: Path) -> Path:
    """Write `diagnosis.html` into `folder`, with its pictures inside and as PNG files."""
    make_folder(folder)
    if isinstance(diagnosis, FittedDiagnosis):
        return fitted_page(diagnosis, folder)
    return equivalents_page(diagnosis, folder)
