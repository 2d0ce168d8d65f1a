"""What a layer does, in compiled loops: activations, their slopes, products of matrices.

Single precision is exact to its last digits: the error function is a ratio of polynomials (the one
of the library Eigen, within 3e-7), the exponential one of 2^f by Cephes. The compiler turns such
loops into vector instructions, which calls of a library would prevent.
"""

import math

import numpy as np

from sgdphase._compiled import kept

KINDS = {"relu": 0, "gelu": 1, "tanh": 2}

# For vectors: sums in any order, and a division by 0 gives what IEEE says.
fast = kept(error_model="numpy", fastmath={"contract", "reassoc"})

_HALF, _ONE, _FOUR = np.float32(0.5), np.float32(1.0), np.float32(4.0)
_ROOT_HALF, _DENSITY = np.float32(math.sqrt(0.5)), np.float32(1 / math.sqrt(2 * math.pi))
# The exponent whose bits are all 0, and so its power of two: far from 0 the density is 0.
_LOG2_E, _LOWEST = np.float32(1 / math.log(2)), np.float32(-127.0)


def _numbers(*values):
    return tuple(np.float32(value) for value in values)


_ABOVE = _numbers(
    -2.72614225801306e-10, 2.77068142495902e-08, -2.10102402082508e-06, -5.69250639462346e-05,
    -7.34990630326855e-04, -2.95459980854025e-03, -1.60960333262415e-02,
)  # fmt: skip
_BELOW = _numbers(
    -1.45660718464996e-05, -2.13374055278905e-04, -1.68282697438203e-03, -7.37332916720468e-03,
    -1.42647390514189e-02,
)  # fmt: skip
_POWER = _numbers(
    1.535336188319500e-4, 1.339887440266574e-3, 9.618437357674640e-3, 5.550332471162809e-2,
    2.402264791363012e-1, 6.931472028550421e-1, 1.0,
)  # fmt: skip

# Multiplications at a time: OpenBLAS does them by one thread, and as fast as it does many.
_SMALL = 2**17


@fast
def _polynomial(coefficients, x):
    value = coefficients[0]
    for coefficient in coefficients[1:]:
        value = value * x + coefficient
    return value


@fast
def _below(z):
    """The part of a standard Gaussian below `z`."""
    x = min(max(z * _ROOT_HALF, -_FOUR), _FOUR)
    square = x * x
    return _HALF + _HALF * x * _polynomial(_ABOVE, square) / _polynomial(_BELOW, square)


@fast
def _density(z):
    """Of a standard Gaussian."""
    power = max(-_HALF * z * z * _LOG2_E, _LOWEST)
    whole = np.floor(power + _HALF)
    exponent = np.int32((np.int32(whole) + np.int32(127)) << np.int32(23))
    return _DENSITY * exponent.view(np.float32) * _polynomial(_POWER, power - whole)


@fast
def activate(kind, z, scale, out):
    """`scale` times the activation of every number."""
    z, out = z.ravel(), out.ravel()
    if kind == 0:
        for i in range(z.size):
            out[i] = scale * max(z[i], z[i] - z[i])
    elif kind == 1:
        for i in range(z.size):
            out[i] = scale * z[i] * _below(z[i])
    else:
        for i in range(z.size):
            out[i] = scale * math.tanh(z[i])


@fast
def times_slope(kind, z, scale, out):
    """`out` times `scale` and the slope of the activation at `z`, in place."""
    if kind == 0:
        for i in range(z.size):
            out[i] *= scale if z[i] > 0 else z[i] - z[i]
    elif kind == 1:
        for i in range(z.size):
            out[i] *= scale * (_below(z[i]) + z[i] * _density(z[i]))
    else:
        for i in range(z.size):
            value = math.tanh(z[i])
            out[i] *= scale * (_ONE - value * value)


@fast
def _at_a_time(size):
    """How many rows to multiply at a time, each by `size` numbers."""
    return max(_SMALL // size // 4 * 4, 4)


@fast
def product(a, b, out):
    """`a b`."""
    rows = _at_a_time(b.size)
    for first in range(0, len(a), rows):
        np.dot(a[first : first + rows], b, out[first : first + rows])


@fast
def add_product(weight, a, b, rest):
    """`weight += a' b`, with the rounding error in `rest`; returned is whether it is not 0."""
    rows, moved = _at_a_time(b.size), False
    for first in range(0, len(weight), rows):
        here = slice(first, min(first + rows, len(weight)))
        columns = np.empty((len(a), here.stop - first), a.dtype)
        for i in range(len(a)):
            for j in range(columns.shape[1]):
                columns[i, j] = a[i, first + j]
        part = np.dot(columns.T, b)
        _add(weight[here], part, rest[here])
        moved = moved or _any(part)
    return moved


# No other order of sums here: the point is in their order.
@kept()
def add_at(row, carry, i, step):
    """`row[i] += step`, with the rounding error in `carry`."""
    step += carry[i]
    before = row[i]
    after = before + step
    row[i] = after
    carry[i] = step + (before - after)


@kept()
def _add(weight, part, rest):
    for i in range(len(weight)):
        for j in range(weight.shape[1]):
            add_at(weight[i], rest[i], j, part[i, j])


@fast
def _any(x):
    for i in range(len(x)):
        for j in range(x.shape[1]):
            if x[i, j] != 0:
                return True
    return False
