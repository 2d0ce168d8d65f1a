"""A table of 569 rows and 30 correlated columns, two classes by name, one linear layer.

Made after the breast cancer data of scikit-learn: two Gaussian classes of unequal size that share a
covariance with few large directions; the best possible error is about 6 %.
"""

import numpy as np
from torch import nn

ROWS, COLUMNS = 569, 30
# The distance of the classes in units of the noise.
DISTANCE = 3.0


def model():
    return nn.Linear(COLUMNS, 1)


def data():
    random = np.random.default_rng(12)
    directions = np.linalg.qr(random.normal(size=(COLUMNS, COLUMNS)))[0]
    deviations = 4.0 * np.arange(1, COLUMNS + 1) ** -1.0
    along = random.normal(size=COLUMNS)
    along *= DISTANCE / np.linalg.norm(along)
    malignant = random.random(ROWS) < 0.37
    x = random.normal(size=(ROWS, COLUMNS)) + np.outer(malignant - 0.5, along)
    x = (x * deviations) @ directions.T
    x = (x - x.mean(axis=0)) / x.std(axis=0)
    return x.astype(np.float32), np.where(malignant, "malignant", "benign")
