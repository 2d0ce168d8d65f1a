"""Many trainings, each done once: plan, store, workers. Knows no trainer from inside."""

from sgdphase._lazy import attach

__getattr__, __dir__, __all__ = attach(__name__)
