"""Numbers with intervals: bootstrap over seeds, log-linear fits, power laws, data collapse.

Knows nothing of SGD.
"""

from sgdphase._lazy import attach

__getattr__, __dir__, __all__ = attach(__name__)
