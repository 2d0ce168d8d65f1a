"""What the paper predicts about its perceptron, without any run.

Averages over the data distribution (SI 6.A), asymptotic constants (SI 4.A), the online dynamics
with and without noise (Eq. 3), its fluctuations (SI 4.B), and the scales of the phase diagram.
"""

from sgdphase._lazy import attach

__getattr__, __dir__, __all__ = attach(__name__)
