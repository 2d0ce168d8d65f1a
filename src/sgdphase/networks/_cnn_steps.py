"""Steps of the convolutional network through batches, in one compiled call.

A batch is passed a few points at a time. If most of these are active (short of their margin), they
go back at once, while all they need is in the cache. Others go forward once more, with their like.
"""

import math

import numpy as np

from sgdphase._compiled import kept
from sgdphase.networks._compiled_cnn import backward, fan_in, forward
from sgdphase.networks._compiled_layers import fast
from sgdphase.networks._window import LATEST


@fast
def walk(x, y, start, batches, row, carry, plan, scales, kind, rate, short, sizes, changed, means):
    """Pass the batches [n, B], changing weights, their carry and the means of gap and share.

    `row` are the weights in the order of the parameters: the last layer, its bias, convolutions.
    `scales` are theirs, one per convolution. `rate` is `lr / B`; `sizes` are the values of a point,
    and the points at a time. `changed` and what is returned are as in `_window`.
    """
    size, at_a_time = sizes
    channels = plan[-1].channels_out
    weights, head = np.empty(len(row) - channels - 1, x.dtype), np.empty(channels, x.dtype)
    found, of_head = np.empty_like(weights), np.empty_like(head)
    z = np.empty(at_a_time * size, x.dtype)
    values, slopes = np.empty_like(z), np.empty_like(z)
    left, up = np.empty(batches.shape[1], np.int64), np.empty(at_a_time, x.dtype)
    steps, moved = 0, True
    for here in range(1, len(batches) + 1):
        if moved:
            _scale(row, plan, scales, weights, head)
            moved = False
        found[:], of_head[:], of_bias = 0, 0, np.float32(0)
        points, bias = batches[here - 1], row[channels] * scales[1]
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
            means[0] += LATEST * (here - changed - means[0])
            means[1] += LATEST * (active / len(points) - means[1])
            moved = _step(row, carry, plan, scales, rate, found, of_head, of_bias)
            if moved:
                changed = here
    return changed, steps, True


@fast
def _scale(row, plan, scales, weights, head):
    """The weights as the layers apply them, [fan-in, channels] of each."""
    for c in range(len(head)):
        head[c] = scales[0] * row[c]
    for number in range(len(plan)):
        layer, scale = plan[number], scales[number + 2]
        fan, channels = fan_in(layer), layer.channels_out
        own = row[len(head) + 1 + layer.weight :]
        for c in range(channels):
            for i in range(fan):
                weights[layer.weight + i * channels + c] = scale * own[c * fan + i]


@fast
def _step(row, carry, plan, scales, rate, found, of_head, of_bias):
    """Change the weights by `rate` times their gradient; whether it is not 0."""
    moved, convolutions = of_bias != 0, len(of_head) + 1
    _add(row, carry, len(of_head), rate * scales[1] * of_bias)
    for c in range(len(of_head)):
        _add(row, carry, c, rate * scales[0] * of_head[c])
    for number in range(len(plan)):
        layer, factor = plan[number], rate * scales[number + 2]
        fan, channels = fan_in(layer), layer.channels_out
        for c in range(channels):
            for i in range(fan):
                part = found[layer.weight + i * channels + c]
                moved = moved or part != 0
                _add(row, carry, convolutions + layer.weight + c * fan + i, factor * part)
    return moved


@kept()
def _add(row, carry, i, step):
    """`row[i] += step`, with the rounding error in `carry`."""
    step += carry[i]
    before = row[i]
    after = before + step
    row[i] = after
    carry[i] = step + (before - after)
