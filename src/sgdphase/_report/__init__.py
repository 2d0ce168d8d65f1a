"""Pages to read and to send: one HTML file that holds its pictures, its numbers and every run.

A page is drawn from what others found; nothing here is estimated.
"""

from sgdphase._lazy import attach

__getattr__, __dir__, __all__ = attach(__name__)
