"""Which regime a training of the user's own is in, from few trainings."""

from sgdphase.diagnose.answer import Diagnosis, Limit, Scaling, Size
from sgdphase.diagnose.run import diagnose
from sgdphase.diagnose.words import answer_lines

__all__ = [
    "Diagnosis",
    "Limit",
    "Scaling",
    "Size",
    "answer_lines",
    "diagnose",
]
