"""Compiled simulation of the paper's model. Knows nothing of sweeps and files."""

from sgdphase._lazy import attach

__getattr__, __dir__, __all__ = attach(__name__)
