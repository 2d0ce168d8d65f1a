"""What is learnt: inputs and +-1 labels. Knows nothing of models."""

from sgdphase.problems._dataset import Dataset
from sgdphase.problems.teacher import TeacherTask

__all__ = ["Dataset", "TeacherTask"]
