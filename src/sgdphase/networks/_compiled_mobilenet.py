"""Passes through the paper's convolutional network in compiled loops, a few points at a time.

What a few points need stays in the cache, so that a gradient makes its pass anew instead of keeping
what another one computed of all points. The values of a layer are [places, channels]: a 1x1
convolution is a product of matrices. In a depth-wise one each channel has its own weights, which
are repeated for every column, so that a loop goes over a whole row of an image at once.

A layer is a row of `plan`, a table with the columns of `LAYER`. `row` are the weights in the order
of the network's parameters: the last layer, its bias, the convolutions. `weights` are the
convolutions as they are applied, scaled and [fan-in, channels] of each, and `head` the last layer.
"""

import math

import numpy as np

from sgdphase.networks._compiled_layers import activate, fast, product, times_slope

# Kinds of layers.
FULL, DEPTHWISE, POINTWISE = 0, 1, 2
# Sizes are the rows of the (square) images before and after, `pad` the rows that are added before
# the first one. `weight`, `here` and `below` are where the layer's weights, its values and those of
# the layer below begin, for one point. An `active` layer has an activation. Others are linear, and
# `sum` is where the values begin to which theirs are added; of the layer that begins such a block,
# `also` is where the sum begins. Both are -1 without one.
LAYER = np.dtype([
    (name, np.int64)
    for name in (
        "kind", "size_in", "size_out", "channels_in", "channels_out", "stride", "pad", "weight",
        "here", "below", "active", "sum", "also",
    )
])  # fmt: skip

KERNEL = 5
_ROOT_HALF, _ONE = np.float32(math.sqrt(0.5)), np.float32(1.0)


@fast
def _matrix(row, first, rows, columns):
    return row[first : first + rows * columns].reshape((rows, columns))


@fast
def fan_in(layer):
    fan = 1 if layer.kind == DEPTHWISE else layer.channels_in
    return fan if layer.kind == POINTWISE else fan * KERNEL**2


@fast
def _rows(layer):
    """Rows of an image with what is added before the first and after the last."""
    return (layer.size_out - 1) * layer.stride + KERNEL


@fast
def _patches(image, layer):
    """What each place sees of an image [channels, rows, columns]: [places, fan-in]."""
    pad, stride, size = layer.pad, layer.stride, layer.size_out
    rows, end = _rows(layer), pad + layer.size_in
    padded = np.zeros((layer.channels_in, rows, rows), image.dtype)
    padded[:, pad:end, pad:end] = image
    patches = np.empty((size**2, fan_in(layer)), image.dtype)
    for i in range(size):
        for j in range(size):
            patch, n = patches[i * size + j], 0
            for c in range(layer.channels_in):
                for a in range(KERNEL):
                    for b in range(KERNEL):
                        patch[n + b] = padded[c, i * stride + a, j * stride + b]
                    n += KERNEL
    return patches


@fast
def _empty_image(layer, like):
    """A padded image [rows, stride, columns x channels].

    Columns with the same remainder by the stride stand together: those that one weight meets.
    """
    rows, stride = _rows(layer), layer.stride
    return np.zeros((rows, stride, (rows + stride - 1) // stride * layer.channels_in), like.dtype)


@fast
def _at(image, layer, i, j):
    """The channels of a place of a padded image, and what follows."""
    column = layer.pad + j
    first = column // layer.stride * layer.channels_in
    return image[layer.pad + i, column % layer.stride][first:]


@fast
def _pad(values, layer, image):
    """The values [places, channels] of a layer into a padded image."""
    for i in range(layer.size_in):
        for j in range(layer.size_in):
            here, there = values[i * layer.size_in + j], _at(image, layer, i, j)
            for c in range(len(here)):
                there[c] = here[c]


@fast
def _unpad(image, layer, values):
    """The other way."""
    for i in range(layer.size_in):
        for j in range(layer.size_in):
            here, there = values[i * layer.size_in + j], _at(image, layer, i, j)
            for c in range(len(here)):
                here[c] = there[c]


@fast
def _repeated(weight, times):
    """Weights [kernel^2, channels] for every column: [kernel^2, columns x channels]."""
    channels = weight.shape[1]
    out = np.empty((len(weight), times * channels), weight.dtype)
    for j in range(times):
        out[:, j * channels : (j + 1) * channels] = weight
    return out


@fast
def _depthwise(image, weight, layer, out):
    """Into `out` [rows, columns x channels], with repeated weights."""
    stride, channels, span = layer.stride, layer.channels_out, out.shape[1]
    out[:] = 0
    for a in range(KERNEL):
        w0, w1, w2 = weight[KERNEL * a], weight[KERNEL * a + 1], weight[KERNEL * a + 2]
        w3, w4 = weight[KERNEL * a + 3], weight[KERNEL * a + 4]
        for i in range(len(out)):
            here, row = out[i], image[i * stride + a]
            x0, x1, x2, x3, x4 = (
                row[0 % stride][0 // stride * channels :],
                row[1 % stride][1 // stride * channels :],
                row[2 % stride][2 // stride * channels :],
                row[3 % stride][3 // stride * channels :],
                row[4 % stride][4 // stride * channels :],
            )
            # One sum, so that what is here is read and written once for five weights.
            for m in range(span):
                here[m] += (
                    x0[m] * w0[m] + x1[m] * w1[m] + x2[m] * w2[m] + x3[m] * w3[m] + x4[m] * w4[m]
                )


@fast
def _depthwise_back(image, weight, layer, above, below, gradient):
    """Add the slopes of the padded inputs and of the repeated weights, given those `above`."""
    stride, channels, span = layer.stride, layer.channels_out, above.shape[1]
    for a in range(KERNEL):
        for i in range(len(above)):
            here = above[i]
            for b in range(KERNEL):
                first = b // stride * channels
                x = image[i * stride + a, b % stride][first : first + span]
                back = below[i * stride + a, b % stride][first : first + span]
                w, g = weight[KERNEL * a + b], gradient[KERNEL * a + b]
                for m in range(span):
                    back[m] += here[m] * w[m]
                for m in range(span):
                    g[m] += here[m] * x[m]


@fast
def _means(values, layer, n):
    """Over the places of the last layer, [n, channels]."""
    places, channels = layer.size_out**2, layer.channels_out
    rows = _matrix(values, n * layer.here, n * places, channels)
    means = np.zeros((n, channels), values.dtype)
    for k in range(n):
        for i in range(places):
            means[k] += rows[k * places + i]
    return means / np.float32(places)


@fast
def forward(images, plan, weights, head, bias, kind, z, values):
    """The outputs of some images: `head . mean + bias` of the last layer.

    `z` gets what every layer gives before the activation, `values` what after it or after a sum.
    """
    n = len(images)
    for layer in plan:
        size, channels = layer.size_out, layer.channels_out
        places, weight = size**2, _matrix(weights, layer.weight, fan_in(layer), channels)
        out = _matrix(z, n * layer.here, n * places, channels)
        if layer.kind == FULL:
            for k in range(n):
                product(_patches(images[k], layer), weight, out[k * places : (k + 1) * places])
        elif layer.kind == POINTWISE:
            product(_matrix(values, n * layer.below, n * places, layer.channels_in), weight, out)
        else:
            before = layer.size_in**2
            below = _matrix(values, n * layer.below, n * before, channels)
            image, weight = _empty_image(layer, z), _repeated(weight, size)
            for k in range(n):
                _pad(below[k * before : (k + 1) * before], layer, image)
                rows = out[k * places : (k + 1) * places].reshape((size, size * channels))
                _depthwise(image, weight, layer, rows)
        out = out.ravel()
        after = values[n * layer.here : n * layer.here + out.size]
        if layer.active:
            activate(kind, out, _ONE, after)
        elif layer.sum >= 0:
            other = values[n * layer.sum : n * layer.sum + out.size]
            for i in range(out.size):
                after[i] = (other[i] + out[i]) * _ROOT_HALF
        else:
            after[:] = out
    return np.dot(_means(values, plan[-1], n), head) + bias


@fast
def backward(images, up, plan, weights, head, kind, z, values, slopes, gradient, of_head):
    """Add the gradients of the weights and of `head`, given the slopes `up` of the outputs.

    `z` and `values` are those of the way forward; `slopes` gets the slopes of the values.
    """
    n, top = len(images), plan[-1]
    of_head += np.dot(up, _means(values, top, n))
    rows = _matrix(slopes, n * top.here, n * top.size_out**2, top.channels_out)
    for i in range(len(rows)):
        rows[i] = head * (up[i // top.size_out**2] / np.float32(top.size_out**2))
    for number in range(len(plan) - 1, -1, -1):
        layer = plan[number]
        size, channels, before = layer.size_out, layer.channels_out, layer.size_in**2
        places, weight = size**2, _matrix(weights, layer.weight, fan_in(layer), channels)
        part = _matrix(gradient, layer.weight, fan_in(layer), channels)
        first, last = n * layer.here, n * (layer.here + places * channels)
        above = slopes[first:last]
        if layer.active:
            times_slope(kind, z[first:last], _ONE, above)
        elif layer.sum >= 0:
            above *= _ROOT_HALF
        above = above.reshape((n * places, channels))
        if layer.kind == FULL:
            for k in range(n):
                here = above[k * places : (k + 1) * places]
                part += np.dot(_patches(images[k], layer).T, here)
            continue
        inputs = _matrix(values, n * layer.below, n * before, layer.channels_in)
        below = _matrix(slopes, n * layer.below, n * before, layer.channels_in)
        if layer.kind == POINTWISE:
            part += np.dot(inputs.T, above)
            product(above, np.ascontiguousarray(weight.T), below)
        else:
            image, back = _empty_image(layer, z), _empty_image(layer, z)
            weight = _repeated(weight, size)
            repeated = np.zeros_like(weight)
            for k in range(n):
                _pad(inputs[k * before : (k + 1) * before], layer, image)
                rows = above[k * places : (k + 1) * places].reshape((size, size * channels))
                back[:] = 0
                _depthwise_back(image, weight, layer, rows, back, repeated)
                _unpad(back, layer, below[k * before : (k + 1) * before])
            for j in range(size):
                part += repeated[:, j * channels : (j + 1) * channels]
        if layer.also >= 0:
            below += _matrix(slopes, n * layer.also, n * before, layer.channels_in)


@fast
def applied(row, plan, scales):
    """`weights`, `head` and the bias; `scales` has a number for each, and for each convolution."""
    channels = plan[-1].channels_out
    convolutions = row[channels + 1 :]
    weights = np.empty_like(convolutions)
    for number in range(len(plan)):
        layer, scale = plan[number], scales[number + 2]
        fan, outputs = fan_in(layer), layer.channels_out
        for c in range(outputs):
            for i in range(fan):
                own = convolutions[layer.weight + c * fan + i]
                weights[layer.weight + i * outputs + c] = scale * own
    return weights, scales[0] * row[:channels], scales[1] * row[channels]


@fast
def outputs(x, points, row, plan, scales, kind, size, at_a_time):
    """Of the `points` of `x`; `size` is how many values a point has."""
    weights, head, bias = applied(row, plan, scales)
    found = np.empty(len(points), x.dtype)
    z = np.empty(at_a_time * size, x.dtype)
    values = np.empty_like(z)
    for first in range(0, len(points), at_a_time):
        images = x[points[first : first + at_a_time]]
        here = forward(images, plan, weights, head, bias, kind, z, values)
        found[first : first + len(images)] = here
    return found


@fast
def gradient(x, points, up, row, plan, scales, kind, size, at_a_time):
    """Of the sum of the outputs times `up`: that of the weights and that of `head`."""
    weights, head, bias = applied(row, plan, scales)
    found, of_head = np.zeros_like(weights), np.zeros_like(head)
    z = np.empty(at_a_time * size, x.dtype)
    values, slopes = np.empty_like(z), np.empty_like(z)
    for first in range(0, len(points), at_a_time):
        images, here = x[points[first : first + at_a_time]], up[first : first + at_a_time]
        forward(images, plan, weights, head, bias, kind, z, values)
        backward(images, here, plan, weights, head, kind, z, values, slopes, found, of_head)
    return found, of_head
