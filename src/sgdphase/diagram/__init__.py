"""From runs to phases: regimes, boundaries, all with intervals.

It reads a table of runs and knows nothing of how they were made.
"""

from sgdphase._lazy import attach

__getattr__, __dir__, __all__ = attach(__name__)
