"""Pages to read and to send: one HTML file that holds its pictures, its numbers and every run.

A page is drawn from what others found; nothing here is estimated.
"""

from __future__ import annotations

from sgdphase.report.diagnosis import diagnosis_page, make_folder
from sgdphase.report.store import store_page

__all__ = ["diagnosis_page", "make_folder", "store_page"]
