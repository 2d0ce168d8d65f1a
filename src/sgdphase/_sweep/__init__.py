"""Many trainings, each done once: plan, store, workers. Knows not what a training computes."""

from sgdphase._lazy import attach

__getattr__, __dir__, __all__ = attach(__name__)
