"""A user's own training: which learning rate goes with another batch, from few trainings."""

from sgdphase.diagnose.answer import Diagnosis
from sgdphase.diagnose.fitted.answer import FittedDiagnosis
from sgdphase.diagnose.run import diagnose, diagnose_until_fitted
from sgdphase.diagnose.text import answer_text

__all__ = ["Diagnosis", "FittedDiagnosis", "answer_text", "diagnose", "diagnose_until_fitted"]
