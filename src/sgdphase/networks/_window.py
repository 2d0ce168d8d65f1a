"""Steps of the fully connected network through a window of batches, in one compiled call.

The first layer holds most weights. A step changes it by the sum of `x_a d_a'` over active points
`a`, and so its value at a later point `x` by the sum of `(x . x_a) d_a`. So the first layer is
computed once for all points of a window, corrected after each step, and its weights change at the
end of the window. In the other layers some batches ahead are computed, as `_descent` does.
"""

import math

import numpy as np

from sgdphase.networks._compiled_layers import activate, add_product, fast, product, times_slope

# Weight of the latest in the running means.
LATEST = 0.1


@fast
def keep_pace(pace, here, share):
    """After the active step `here`, with this share of active points."""
    pace[0] += LATEST * (here - pace[2] - pace[0])
    pace[1] += LATEST * (share - pace[1])
    pace[2] = here


@fast
def walk(x, y, start, batches, weights, carry, sizes, scales, kind, short, call, changed, pace):
    """Pass the batches [n, B], changing weights, their carry and `pace`.

    `weights` are those of all layers in one row. `scales` are those of the inputs of the layers,
    and last `lr / B`. `changed` is the last step that changed a weight, counted from the first
    batch. `pace` are the means of gap and share, and the last step with an active batch. Returned
    are the new value of `changed`, the number of active batches, and whether all margins were
    finite.
    """
    many, size = batches.shape
    inputs, width, depth = sizes
    count = many * size
    points = batches.reshape(count)
    first = weights[: inputs * width].reshape(inputs, width)
    first_carry = carry[: inputs * width].reshape(inputs, width)
    rest, rest_carry = weights[inputs * width :], carry[inputs * width :]
    own = _rows(x, points)
    z = np.empty((depth, count, width), x.dtype)
    a = np.empty((depth, count, width), x.dtype)
    f = np.empty((count, 1), x.dtype)
    product(own, first, z[0])
    _scale(z[0], scales[0])
    seen, delta = np.empty((count, inputs), x.dtype), np.empty((count, width), x.dtype)
    active, every = np.empty(size, np.int64), np.arange(size)
    here = steps = stored = 0
    while here < many:
        distance = max(pace[0], here - pace[2])
        ahead = min(max(round(math.sqrt(2 * call * distance / size)), 1), many - here)
        begin, end = here * size, (here + ahead) * size
        _forward(z, a, f, begin, end, rest, scales, kind)
        n = 0
        for i in range(begin, end):
            margin = y[points[i]] * (f[i, 0] - start[points[i]])
            if not math.isfinite(margin):
                return changed, steps, False
            if margin < short and (n == 0 or i // size == here):
                here = i // size
                active[n] = i
                n += 1
        if n == 0:
            here += ahead
            continue
        here, steps = here + 1, steps + 1
        keep_pace(pace, here, n / size)
        d = np.empty((n, 1), x.dtype)
        for i in range(n):
            d[i, 0] = scales[-1] * y[points[active[i]]]
        d, moved = _backward(z, a, active[:n], d, rest, rest_carry, scales, kind)
        if moved or d.any():
            changed = here
        _scale(d, scales[0])
        _copy(own, active[:n], seen[stored : stored + n])
        _copy(d, every[:n], delta[stored : stored + n])
        if here < many:
            _correct(z[0, here * size :], own[here * size :], seen[stored : stored + n], d, scales)
        stored += n
    if stored > 0:
        add_product(first, seen[:stored], delta[:stored], first_carry)
    return changed, steps, True


@fast
def _forward(z, a, f, begin, end, weights, scales, kind):
    """The outputs `f` of some rows from the first layer; `a` are the scaled activations."""
    depth = len(z)
    for layer in range(depth):
        activate(kind, z[layer, begin:end], scales[layer + 1], a[layer, begin:end])
        out = z[layer + 1, begin:end] if layer + 1 < depth else f[begin:end]
        product(a[layer, begin:end], _layer(weights, layer, z), out)


@fast
def _backward(z, a, rows, d, weights, carry, scales, kind):
    """Change the weights after the first layer, from the slopes `d` of the outputs.

    Returned are the slopes of the first layer, and whether a weight moved.
    """
    depth, _, width = z.shape
    moved = False
    for layer in range(depth - 1, -1, -1):
        weight = _layer(weights, layer, z)
        back = np.empty((len(rows), width), d.dtype)
        product(d, weight.T, back)
        changed = add_product(weight, _rows(a[layer], rows), d, _layer(carry, layer, z))
        moved = moved or changed
        for i in range(len(rows)):
            times_slope(kind, z[layer, rows[i]], scales[layer + 1], back[i])
        d = back
    return d, moved


@fast
def _correct(z, x, seen, d, scales):
    """The first layer `z` at points `x` after a step on the points `seen`."""
    nearness, change = np.empty((len(x), len(seen)), x.dtype), np.empty_like(z)
    product(x, seen.T, nearness)
    product(nearness, d, change)
    for i in range(len(z)):
        for j in range(z.shape[1]):
            z[i, j] += scales[0] * change[i, j]


@fast
def _layer(weights, layer, z):
    """The weights after hidden layer number `layer`; the last of them give one output."""
    depth, _, width = z.shape
    outputs = width if layer + 1 < depth else 1
    first = layer * width * width
    return weights[first : first + width * outputs].reshape(width, outputs)


@fast
def _rows(x, chosen):
    out = np.empty((len(chosen), x.shape[1]), x.dtype)
    _copy(x, chosen, out)
    return out


@fast
def _copy(x, chosen, out):
    for i in range(len(chosen)):
        for j in range(x.shape[1]):
            out[i, j] = x[chosen[i], j]


@fast
def _scale(x, scale):
    for i in range(len(x)):
        for j in range(x.shape[1]):
            x[i, j] *= scale
