"""The user's code, turned into trainings: a model and data, a function that trains, or a command.

Torch is loaded with the first module that is trained, not here.
"""

from sgdphase._lazy import attach

__getattr__, __dir__, __all__ = attach(__name__)
