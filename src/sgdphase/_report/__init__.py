"""Pages to read and to send: one HTML file with its pictures, its numbers and every run.

A page only shows results of other rooms; nothing is estimated here.
"""

from sgdphase._lazy import attach

__getattr__, __dir__, __all__ = attach(__name__)
