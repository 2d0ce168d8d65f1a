"""Pictures: what to run, how to draw it."""

from sgdphase.diagram._trajectory import draw_trajectory

__all__ = ["draw_trajectory"]
