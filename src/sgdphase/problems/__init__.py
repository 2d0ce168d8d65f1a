"""What is learnt: inputs and labels. Knows nothing of models."""

from sgdphase.problems._dataset import Dataset
from sgdphase.problems.arrays import Arrays
from sgdphase.problems.images import CifarAnimals, MnistParity
from sgdphase.problems.own import Own
from sgdphase.problems.teacher import TeacherTask

Problem = TeacherTask | MnistParity | CifarAnimals | Arrays | Own

# By the name that a stored training has for it.
PROBLEMS: dict[str, type[Problem]] = {
    problem.kind: problem for problem in (TeacherTask, MnistParity, CifarAnimals, Arrays, Own)
}

__all__ = [
    "PROBLEMS",
    "Arrays",
    "CifarAnimals",
    "Dataset",
    "MnistParity",
    "Own",
    "Problem",
    "TeacherTask",
]
