"""The image problems on the real files, which SGDPHASE_DATA names."""

from __future__ import annotations

import gzip
import os
from pathlib import Path

import numpy as np
import pytest

from sgdphase.errors import InputError
from sgdphase.problems import CifarAnimals, MnistParity
from sgdphase.problems._formats import read_cifar_batch
from sgdphase.problems._split import permutation

needs_files = pytest.mark.skipif(
    "SGDPHASE_DATA" not in os.environ, reason="SGDPHASE_DATA does not name the image files"
)
both = pytest.mark.parametrize("problem", [MnistParity(), CifarAnimals()], ids=lambda p: p.kind)


def folder(name: str) -> Path:
    return Path(os.environ["SGDPHASE_DATA"]) / name


@needs_files
def test_shapes_and_types() -> None:
    mnist, cifar = MnistParity().train_set(3, seed=0), CifarAnimals().test_set(5, seed=0)
    assert (mnist.x.shape, mnist.y.shape) == ((3, 1, 28, 28), (3,))
    assert (cifar.x.shape, cifar.y.shape) == ((5, 3, 32, 32), (5,))
    for array in (mnist.x, mnist.y, cifar.x, cifar.y):
        assert array.dtype == np.float32


@needs_files
@both
def test_all_pixels_together_have_mean_0_and_deviation_1(problem) -> None:
    # In parts: nobody should need all of CIFAR as floats. The parts tile the merged data.
    half = len(problem) // 2
    parts = [problem.train_set(half, seed=1).x, problem.test_set(len(problem) - half, seed=1).x]
    size = sum(part.size for part in parts)
    assert sum(part.sum(dtype=float) for part in parts) / size == pytest.approx(0, abs=1e-6)
    square = sum(np.einsum("nchw,nchw->", part, part, dtype=float) for part in parts)
    assert square / size == pytest.approx(1, abs=1e-6)


@needs_files
def test_mnist_labels_are_the_parities_in_the_label_files() -> None:
    raw = [
        gzip.decompress((folder("mnist") / f"{part}-labels-idx1-ubyte.gz").read_bytes())[8:]
        for part in ("train", "t10k")
    ]
    digits = np.frombuffer(b"".join(raw), np.uint8)
    y = MnistParity().train_set(70_000, seed=5).y
    assert np.array_equal(y, 1.0 - 2.0 * (digits[permutation(70_000, 5)] % 2))


@needs_files
def test_mnist_images_are_the_bytes_of_the_image_files() -> None:
    index = permutation(70_000, 5)[:300]
    train, test = (
        gzip.decompress((folder("mnist") / f"{part}-images-idx3-ubyte.gz").read_bytes())[16:]
        for part in ("train", "t10k")
    )
    x = MnistParity().train_set(300, seed=5).x
    merged = np.frombuffer(train + test, np.uint8).reshape(70_000, 784)[index]
    # An affine map of the bytes: nothing but its two numbers is lost.
    slope, offset = np.polyfit(merged.ravel(), x.ravel(), 1)
    assert np.allclose(x.reshape(300, 784), slope * merged + offset, atol=1e-5)
    assert slope > 0


@needs_files
def test_cifar_has_24000_vehicles_and_they_are_the_negative_ones() -> None:
    problem = CifarAnimals()
    y = np.concatenate([problem.train_set(20_000, 2).y, problem.test_set(40_000, 2).y])
    assert (np.sum(y == -1), np.sum(y == 1)) == (24_000, 36_000)
    # Class numbers straight from the end of the merged files, the test batch.
    order = permutation(60_000, 2)
    with (folder("cifar-10-batches-py") / "test_batch").open("rb") as file:
        classes = read_cifar_batch(file.read())[1]
    in_test = order >= 50_000
    vehicle = [c in {0, 1, 8, 9} for c in classes[order[in_test] - 50_000]]
    assert np.array_equal(y[in_test] == -1, vehicle)


@needs_files
def test_colours_come_first_then_rows() -> None:
    # The first training image of CIFAR-10 begins with the red values 59 43 50 (its top row).
    with (folder("cifar-10-batches-py") / "data_batch_1").open("rb") as file:
        images, classes = read_cifar_batch(file.read())
    assert images[0, 0, 0, :3].tolist() == [59, 43, 50]
    assert images[0, :, 0, 0].tolist() == [59, 62, 63]
    assert classes[0] == 6


@needs_files
@both
def test_what_is_handed_out_can_be_overwritten_without_harm(problem) -> None:
    first = problem.train_set(4, seed=0)
    kept = first.x.copy()
    first.x[:] = 0
    assert np.array_equal(problem.train_set(4, seed=0).x, kept)


@needs_files
@both
def test_training_sets_are_nested_and_seeds_differ(problem) -> None:
    small, large = problem.train_set(20, seed=3), problem.train_set(50, seed=3)
    assert np.array_equal(small.x, large.x[:20])
    assert np.array_equal(small.y, large.y[:20])
    assert not np.array_equal(small.x, problem.train_set(20, seed=4).x)
    assert np.array_equal(problem.test_set(20, seed=3).x, problem.test_set(50, seed=3).x[-20:])


@both
def test_sizes_are_checked_without_files(problem, monkeypatch) -> None:
    monkeypatch.setenv("SGDPHASE_DATA", "nowhere")
    n = len(problem)
    problem.check_sizes(n - 100, 100)
    with pytest.raises(InputError, match=rf"{problem.kind} has {n} images: train size {n - 99}"):
        problem.check_sizes(n - 99, 100)
    with pytest.raises(InputError, match=rf"size = 0: must be an integer from 1 to {n}"):
        problem.train_set(0, seed=0)
    with pytest.raises(InputError, match=r"size = 99999: must be"):
        problem.test_set(99_999, seed=0)
    with pytest.raises(InputError, match=r"seed = -1: must be"):
        problem.train_set(1, seed=-1)
