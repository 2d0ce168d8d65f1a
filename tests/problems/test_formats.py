"""Files that are not what they should be are refused, and run no code."""

from __future__ import annotations

import gzip
import os
import pickle
from pathlib import Path

import pytest

from sgdphase.errors import InputError
from sgdphase.problems._formats import read_cifar_batch, read_idx


class Evil:
    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self):
        return os.mkdir, (str(self.path),)


def test_a_pickle_cannot_run_code(tmp_path) -> None:
    evil = pickle.dumps({b"data": Evil(tmp_path / "ran"), b"labels": []})
    with pytest.raises(InputError, match=r"not a batch of CIFAR-10 \(it asks for \w+\.mkdir\)"):
        read_cifar_batch(evil)
    assert not (tmp_path / "ran").exists()
    pickle.loads(evil)  # the trap works: without the restriction it would have run
    assert (tmp_path / "ran").exists()


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"not a pickle",
        pickle.dumps([1, 2]),
        pickle.dumps({b"labels": [1]}),
        pickle.dumps({b"data": 3, b"labels": [1]}),
        b"\x80\x02cbuiltins\neval\nU\x031+1\x85R.",
        b"\x80\x02cnumpy\nload\nU\x01x\x85R.",
        b"\x80\x02cnumpy\ndtype\nU\x02O8K\x00K\x01\x87R.",
        b"\x80\x02Pid\n.",
    ],
)
def test_anything_else_is_not_a_batch(content: bytes) -> None:
    with pytest.raises(InputError, match="not a batch of CIFAR-10"):
        read_cifar_batch(content)


def test_idx_files_of_other_types_are_refused() -> None:
    with pytest.raises(InputError, match="not an IDX file of unsigned bytes"):
        read_idx(gzip.compress(bytes([0, 0, 13, 1, 0, 0, 0, 1, 0, 0, 0, 0])))
