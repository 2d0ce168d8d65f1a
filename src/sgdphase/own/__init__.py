"""What a user brings, turned into trainings: a model and data, or a function that trains.

Torch is loaded with the first module that is trained, not here.
"""

from sgdphase.own.problem import Own, forget, own_file, own_functions
from sgdphase.own.user import UserTraining, user_training

__all__ = ["Own", "UserTraining", "forget", "own_file", "own_functions", "user_training"]
