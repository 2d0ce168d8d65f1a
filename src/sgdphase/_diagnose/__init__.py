"""A user's own training: which learning rate goes with another batch, from few trainings."""

from sgdphase._diagnose.answer import Diagnosis
from sgdphase._diagnose.fitted.answer import FittedDiagnosis
from sgdphase._diagnose.run import diagnose, diagnose_until_fitted
from sgdphase._diagnose.text import answer_text

__all__ = ["Diagnosis", "FittedDiagnosis", "answer_text", "diagnose", "diagnose_until_fitted"]
