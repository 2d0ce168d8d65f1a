"""What is learnt: inputs and labels. Knows nothing of models."""

from sgdphase._lazy import attach

__getattr__, __dir__, __all__ = attach(__name__)
