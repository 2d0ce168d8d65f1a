"""Vectors inside compiled loops.

Plain loops, also where NumPy has a function: numba compiles NumPy's with all their cases and error
messages, which made the first training after an installation wait twice as long. For the same
reason counters that are passed on start as `np.int64(0)`: from a plain 0 their callees are compiled
twice.
"""

from __future__ import annotations

import math
from functools import partial

import numpy as np

from sgdphase._compiled import unwrapped

# Reassociating sums lets the compiler vectorise them; nan and inf keep their meaning.
FASTMATH = {"reassoc", "contract", "nsz"}
_LINE = 8  # floats in a cache line
# For functions that only compiled loops call.
inner = partial(unwrapped, error_model="numpy")
# For those that one place calls: compiled as a part of it, not by themselves as well.
part = partial(inner, inline="always")


# NumPy's own functions for new arrays are compiled for each set of options of their callers.
@inner()
def zeros(size):
    return np.zeros(size)


@inner()
def integers(size):
    return np.zeros(size, np.int64)


@inner()
def flags(size):
    return np.zeros(size, np.bool_)


@inner()
def matrix(rows, columns):
    """With any content: memory that is not touched costs nothing."""
    return np.empty((rows, columns))


@inner(fastmath=FASTMATH)
def dot(a, b):
    total = 0.0
    for i in range(a.shape[0]):
        total += a[i] * b[i]
    return total


@inner(fastmath=FASTMATH)
def add_scaled(a, scale, b):
    for i in range(a.shape[0]):
        a[i] += scale * b[i]


@inner()
def copy_into(a, b):
    for i in range(b.shape[0]):
        a[i] = b[i]


@inner()
def numbers(size):
    """`0, 1, ..., size - 1`."""
    items = integers(size)
    for i in range(size):
        items[i] = i
    return items


@inner()
def whole_lines(size):
    """So many floats and what fills their last cache line: rows of an array then begin with one."""
    return (size + _LINE - 1) // _LINE * _LINE


@inner()
def rows_of(z, listed):
    rows = matrix(listed.shape[0], z.shape[1])
    for i in range(listed.shape[0]):
        copy_into(rows[i], z[listed[i]])
    return rows


@inner()
def up_to(items, values, limit):
    """The items of values below `-limit`, then those up to `limit`, and the number of the first."""
    chosen = integers(items.shape[0])
    count = np.int64(0)
    for i in range(items.shape[0]):
        chosen[count] = items[i]
        count += 1 if values[i] < -limit else 0
    first = count
    for i in range(items.shape[0]):
        chosen[count] = items[i]
        count += 1 if -limit <= values[i] < limit else 0
    return chosen[:count].copy(), first


@inner(fastmath=FASTMATH)
def add_rows(total, rows, chosen, n):
    """Add the `n` chosen rows; four at a time, to load and store the total less."""
    size = total.shape[0]
    k = 0
    while k + 4 <= n:
        a, b = rows[chosen[k]], rows[chosen[k + 1]]
        c, d = rows[chosen[k + 2]], rows[chosen[k + 3]]
        for i in range(size):
            total[i] += (a[i] + b[i]) + (c[i] + d[i])
        k += 4
    while k < n:
        add_scaled(total, 1.0, rows[chosen[k]])
        k += 1


@inner(fastmath=FASTMATH)
def displacement(w, w_ref):
    """How far `w` is from `w_ref`, a growth of `w1` not counted."""
    back = min(w[0] - w_ref[0], 0.0)
    total = back * back
    for i in range(1, w.shape[0]):
        total += (w[i] - w_ref[i]) ** 2
    return math.sqrt(total)


@inner(fastmath=FASTMATH)
def catch_up(w, rate, rows, pending):
    """Add each row to `w` as often as is pending."""
    for i in range(rows.shape[0]):
        if pending[i] > 0.0:
            add_scaled(w, rate * pending[i], rows[i])
            pending[i] = 0.0
