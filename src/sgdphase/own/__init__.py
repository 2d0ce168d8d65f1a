"""The user's code, turned into trainings: a model and data, or a function that trains.

Torch is loaded with the first module that is trained, not here.
"""

from sgdphase.own.problem import UserProblem, forget, user_file, user_functions
from sgdphase.own.user import UserTraining, user_training

__all__ = ["UserProblem", "UserTraining", "forget", "user_file", "user_functions", "user_training"]
