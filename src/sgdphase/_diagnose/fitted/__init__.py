"""The paper's question, for trainings until every point is fitted: regime, `B*`, GD line."""

from sgdphase._diagnose.fitted.answer import FittedDiagnosis
from sgdphase._diagnose.fitted.question import Question
from sgdphase._diagnose.fitted.text import answer_lines

__all__ = ["FittedDiagnosis", "Question", "answer_lines"]
