"""Array types that every room uses."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
Mask = NDArray[np.bool_]
# Names, such as the regimes of cells.
Names = NDArray[np.str_]
