"""Fig. S3B: how much the kernel of the CNN changes, against T."""

from __future__ import annotations

from sgdphase.paper._small_margin import kernel_figure
from sgdphase.paper.settings import cnn

FIGURE = kernel_figure("figS3b", "the CNN on CIFAR10 (animals against the rest)", cnn)
