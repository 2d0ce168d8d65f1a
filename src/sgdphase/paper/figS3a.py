"""Fig. S3A: how much the kernel of the fully connected net changes, against T."""

from __future__ import annotations

from sgdphase.paper._small_margin import kernel_figure
from sgdphase.paper.settings import fc

FIGURE = kernel_figure("figS3a", "the fully connected net on parity MNIST", fc)
