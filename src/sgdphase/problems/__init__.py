"""What is learnt: inputs and labels. Knows nothing of models."""

from sgdphase.problems._arrays import Arrays
from sgdphase.problems._dataset import Dataset
from sgdphase.problems._images import CifarAnimals, MnistParity
from sgdphase.problems._problem import PROBLEMS, Problem, problem_class
from sgdphase.problems._teacher import TeacherTask

__all__ = [
    "PROBLEMS",
    "Arrays",
    "CifarAnimals",
    "Dataset",
    "MnistParity",
    "Problem",
    "TeacherTask",
    "problem_class",
]
