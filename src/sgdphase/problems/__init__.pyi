from ._arrays import Arrays as Arrays
from ._dataset import Dataset as Dataset
from ._images import CifarAnimals as CifarAnimals
from ._images import MnistParity as MnistParity
from ._problem import PROBLEMS as PROBLEMS
from ._problem import Problem as Problem
from ._problem import problem_class as problem_class
from ._teacher import TeacherTask as TeacherTask
