"""Array types that every room uses."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
Mask = NDArray[np.bool_]
