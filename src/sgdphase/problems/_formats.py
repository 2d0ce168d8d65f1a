"""The file formats of MNIST and CIFAR-10: from checked bytes to pixels and class numbers."""

from __future__ import annotations

import gzip
import io
import pickle
import struct
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sgdphase.errors import InputError

Bytes = NDArray[np.uint8]

CIFAR_SHAPE = (3, 32, 32)


def read_idx(content: bytes) -> Bytes:
    """A gzipped IDX file: two zero bytes, the type, the number of axes, their lengths, the data.

    >>> read_idx(gzip.compress(bytes([0, 0, 8, 1, 0, 0, 0, 2, 7, 9])))
    array([7, 9], dtype=uint8)
    """
    plain = gzip.decompress(content)
    zeros, kind, axes = struct.unpack(">HBB", plain[:4])
    if (zeros, kind) != (0, 8):
        raise InputError("not an IDX file of unsigned bytes")
    shape = struct.unpack(f">{axes}I", plain[4 : 4 + 4 * axes])
    return np.frombuffer(plain, np.uint8, offset=4 + 4 * axes).reshape(shape)


def read_cifar_batch(content: bytes) -> tuple[Bytes, Bytes]:
    """A pickled batch of CIFAR-10: images `[n, 3, 32, 32]` and their classes.

    Unpickling can run any code. Here it can only build an array of bytes: everything else that a
    pickle may name is refused.
    """
    try:
        # The batches were written by Python 2, whose strings are bytes.
        batch: dict[bytes, Any] = _ArraysOnly(io.BytesIO(content), encoding="bytes").load()
        pixels, classes = batch[b"data"], np.array(batch[b"labels"], np.uint8)
        return pixels.reshape(-1, *CIFAR_SHAPE), classes
    except Exception as error:  # reading a pickle of something else may raise anything
        raise InputError(f"not a batch of CIFAR-10 ({error})") from None


def _byte_type(code: bytes, *_: object) -> np.dtype[np.uint8]:
    # numpy's constructor warns about the arguments that old pickles give it.
    if code != b"u1":
        raise pickle.UnpicklingError(f"an array of {code!r}, not of bytes")
    return np.dtype(np.uint8)


# The three names by which the batches build their arrays. The function that numpy's pickles call
# first has no public name, so it is taken from an array.
_KNOWN: dict[tuple[str, str], Any] = {
    ("numpy.core.multiarray", "_reconstruct"): np.empty(0).__reduce__()[0],
    ("numpy", "ndarray"): np.ndarray,
    ("numpy", "dtype"): _byte_type,
}


class _ArraysOnly(pickle.Unpickler):
    """Looks names up in a table of three, and imports nothing."""

    def find_class(self, module: str, name: str) -> Any:
        if (module, name) not in _KNOWN:
            raise pickle.UnpicklingError(f"it asks for {module}.{name}")
        return _KNOWN[module, name]

    def persistent_load(self, pid: Any) -> Any:
        raise pickle.UnpicklingError("it refers to something outside itself")
