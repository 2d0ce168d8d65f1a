"""A user's own training: which learning rate goes with another batch, from few trainings."""

from sgdphase._lazy import attach

__getattr__, __dir__, __all__ = attach(__name__)
