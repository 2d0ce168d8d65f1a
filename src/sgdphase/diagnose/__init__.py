"""Which regime a training of the user's own is in, from few trainings."""

from sgdphase.diagnose.answer import Diagnosis, Limit, Scaling, Size
from sgdphase.diagnose.run import Findings, diagnose, find
from sgdphase.diagnose.words import answer_lines

__all__ = [
    "Diagnosis",
    "Findings",
    "Limit",
    "Scaling",
    "Size",
    "answer_lines",
    "diagnose",
    "find",
]
