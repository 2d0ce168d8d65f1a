"""Pictures: what to run, how to draw it."""

from sgdphase.figures.trajectory import draw_trajectory

__all__ = ["draw_trajectory"]
