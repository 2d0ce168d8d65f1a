"""Steps of the convolutional network through batches, in one compiled call.

A batch is passed a few points at a time. If most of these are active (short of their margin), they
go back at once, while all they need is in the cache. Others go forward once more, with their like.
"""

import math

import numpy as np

from sgdphase.networks._compiled_layers import add_at, fast
from sgdphase.networks._compiled_mobilenet import applied, backward, fan_in, forward
from sgdphase.networks._window import keep_pace


@fast
def walk(x, y, start, batches, row, carry, plan, scales, kind, rate, short, sizes, changed, pace):
    """Pass the batches [n, B], changing weights, their carry and `pace`.

    `rate` is `lr / B`; `sizes` are the values of a point, and the points at a time. `changed`,
    `pace` and what is returned are as in `_window`, the rest is as in `_compiled_mobilenet`.
    """
    size, at_a_time = sizes
    weights, head, bias = applied(row, plan, scales)
    found, of_head = np.empty_like(weights), np.empty_like(head)
    z = np.empty(at_a_time * size, x.dtype)
    values, slopes = np.empty_like(z), np.empty_like(z)
    left, up = np.empty(batches.shape[1], np.int64), np.empty(at_a_time, x.dtype)
    steps = 0
    for here in range(1, len(batches) + 1):
        found[:], of_head[:], of_bias = 0, 0, np.float32(0)
        points = batches[here - 1]
        active = others = 0
        for first in range(0, len(points), at_a_time):
            some = points[first : first + at_a_time]
            n, images, count = len(some), x[some], 0
            f = forward(images, plan, weights, head, bias, kind, z, values)
            for k in range(n):
                margin = y[some[k]] * (f[k] - start[some[k]])
                if not math.isfinite(margin):
                    return changed, steps, False
                up[k] = y[some[k]] if margin < short else 0
                count += margin < short
                of_bias += up[k]
            active += count
            # Forward takes half as long as back: from two in three on all go back at once.
            if 3 * count >= 2 * n:
                backward(
                    images, up[:n], plan, weights, head, kind, z, values, slopes, found, of_head
                )
                continue
            for k in range(n):
                if up[k] != 0:
                    left[others] = some[k]
                    others += 1
        for first in range(0, others, at_a_time):
            some = left[first : min(first + at_a_time, others)]
            images = x[some]
            forward(images, plan, weights, head, bias, kind, z, values)
            backward(images, y[some], plan, weights, head, kind, z, values, slopes, found, of_head)
        if active:
            steps += 1
            keep_pace(pace, here, active / len(points))
            if _step(row, carry, plan, scales, rate, found, of_head, of_bias):
                changed = here
            weights, head, bias = applied(row, plan, scales)
    return changed, steps, True


@fast
def _step(row, carry, plan, scales, rate, found, of_head, of_bias):
    """Change the weights by `rate` times their gradient; whether it is not 0."""
    moved, convolutions = of_bias != 0, len(of_head) + 1
    add_at(row, carry, len(of_head), rate * scales[1] * of_bias)
    for c in range(len(of_head)):
        add_at(row, carry, c, rate * scales[0] * of_head[c])
    for number in range(len(plan)):
        layer, factor = plan[number], rate * scales[number + 2]
        fan, channels = fan_in(layer), layer.channels_out
        for c in range(channels):
            for i in range(fan):
                part = found[layer.weight + i * channels + c]
                moved = moved or part != 0
                add_at(row, carry, convolutions + layer.weight + c * fan + i, factor * part)
    return moved
