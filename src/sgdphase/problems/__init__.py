"""What is learnt: inputs and +-1 labels. Knows nothing of models."""

from sgdphase.problems._dataset import Dataset
from sgdphase.problems.arrays import Arrays
from sgdphase.problems.images import CifarAnimals, MnistParity
from sgdphase.problems.teacher import TeacherTask

Problem = TeacherTask | MnistParity | CifarAnimals | Arrays

# By the name that a stored training has for it.
PROBLEMS: dict[str, type[Problem]] = {
    problem.kind: problem for problem in (TeacherTask, MnistParity, CifarAnimals, Arrays)
}

__all__ = [
    "PROBLEMS",
    "Arrays",
    "CifarAnimals",
    "Dataset",
    "MnistParity",
    "Problem",
    "TeacherTask",
]
