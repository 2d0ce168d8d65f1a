"""The paper's question: trainings until every point is fitted, `B*`, the GD line, their growth."""

from sgdphase.diagnose.fitted.answer import FittedDiagnosis
from sgdphase.diagnose.fitted.question import Question
from sgdphase.diagnose.fitted.text import answer_lines

__all__ = ["FittedDiagnosis", "Question", "answer_lines"]
