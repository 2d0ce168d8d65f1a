"""Where torch computes: the device named by `SGDPHASE_DEVICE`, which workers inherit."""

from __future__ import annotations

import ctypes
import os
from functools import cache

import torch

from sgdphase.errors import InputError

VARIABLE = "SGDPHASE_DEVICE"


def device_of() -> torch.device:
    """The device; raises `InputError` if torch cannot compute there."""
    name = os.environ.get(VARIABLE, "cpu")
    try:
        device = torch.device(name)
        float(torch.zeros(1, device=device).sum())
    except (RuntimeError, AssertionError, ImportError, ValueError, TypeError) as error:
        said = " ".join(str(error).split())[:120]
        raise InputError(f"device = '{name}': torch cannot use it here ({said})") from None
    return device


def use_device(name: str) -> None:
    """Compute on a device, in this process and in workers that it starts.

    Parameters
    ----------
    name : str
        As torch names devices: "cpu", "cuda", "cuda:1", "mps".

    Examples
    --------
    >>> use_device("cpu")
    >>> device_of()
    device(type='cpu')
    """
    os.environ[VARIABLE] = name
    device_of()


def use_one_thread() -> None:
    """Compute with one thread in this process."""
    torch.set_num_threads(1)


# From malloc.h, with the values that keep the activations of some hundred images.
_TRIM, _MMAP = (-1, 2**29), (-3, 2**25)


@cache
def keep_freed_memory() -> None:
    """Let the C library keep up to 512 MB of memory that is freed.

    The activations of images are freed and allocated again at every step. Given back to the system
    in between, each page of them costs a fault and is cleared: a third of a training. Other C
    libraries than glibc, and other systems, lack the call, and are left as they are.
    """
    try:
        tune = ctypes.CDLL(None).mallopt
    except (AttributeError, OSError, TypeError):
        return
    for option, value in (_TRIM, _MMAP):
        tune(option, value)
