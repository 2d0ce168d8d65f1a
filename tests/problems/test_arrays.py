"""Arrays of the user's: what becomes of them, and what is refused."""

from __future__ import annotations

import hashlib
import io
from dataclasses import asdict

import numpy as np
import pytest

from sgdphase.errors import InputError
from sgdphase.problems import Arrays
from sgdphase.problems import _arrays as arrays

RNG = np.random.default_rng(0)
X = 5 + 3 * RNG.standard_normal((40, 2, 3))
Y = RNG.permutation(np.repeat([3, 8], 20))


@pytest.fixture
def saved(tmp_path):
    def save(**given):
        path = tmp_path / "data.npz"
        np.savez(path, **given)
        return path

    yield save
    arrays._loaded.cache_clear()


def test_labels_and_inputs(saved) -> None:
    data = Arrays(saved(x=X, y=Y)).train_set(40, seed=0)
    assert data.x.shape == X.shape
    assert data.x.mean() == pytest.approx(0, abs=1e-12)
    assert data.x.std() == pytest.approx(1)
    # Sorting by the first entry undoes the permutation: the larger label is +1, point by point.
    ours, theirs = np.argsort(data.x[:, 0, 0]), np.argsort(X[:, 0, 0])
    assert np.allclose(data.x[ours], ((X - X.mean()) / X.std())[theirs])
    assert np.array_equal(data.y[ours], np.where(Y == 8, 1.0, -1.0)[theirs])


@pytest.mark.parametrize(
    ("kind", "becomes"),
    [("f8", "f8"), ("f4", "f4"), ("f2", "f4"), ("u1", "f4"), ("i8", "f4"), (">f8", "f8")],
)
def test_types(saved, kind: str, becomes: str) -> None:
    data = Arrays(saved(x=(10 * X).astype(kind).reshape(40, 6), y=Y > 5)).train_set(40, seed=0)
    assert data.x.dtype == data.y.dtype == becomes
    assert data.x.std(dtype=float) == pytest.approx(1, rel=1e-3)


def test_train_and_test_sets_are_disjoint_and_nested(saved) -> None:
    problem = Arrays(saved(x=np.arange(40.0)[:, None], y=Y))
    train, test = problem.train_set(25, seed=1).x, problem.test_set(15, seed=1).x
    assert len(np.unique(np.concatenate([train, test]))) == 40
    assert np.array_equal(problem.train_set(10, seed=1).x, train[:10])
    problem.check_sizes(25, 15)
    with pytest.raises(InputError, match=r"data\.npz has 40 points: train size 26 and test size"):
        problem.check_sizes(26, 15)


def test_digest_and_number_of_points_are_found(saved) -> None:
    path = saved(x=X, y=Y)
    problem = Arrays(path)
    assert problem.digest == hashlib.sha256(path.read_bytes()).hexdigest()
    assert asdict(problem) == {"path": str(path), "digest": problem.digest, "points": 40}


def test_a_stored_problem_needs_its_file_only_for_its_data(saved) -> None:
    path = saved(x=X, y=Y)
    stored = asdict(Arrays(path))
    path.unlink()
    problem = Arrays(**stored)
    problem.check_sizes(20, 20)
    for use in (problem.prepare, lambda: problem.train_set(1, seed=0)):
        with pytest.raises(InputError, match=r"data\.npz: must be a file"):
            use()


def test_the_content_is_what_counts(saved, tmp_path) -> None:
    path = saved(x=X, y=Y)
    copy = tmp_path / "copy.npz"
    copy.write_bytes(path.read_bytes())
    first, second = Arrays(path), Arrays(copy)
    assert first == second
    assert hash(first) == hash(second)
    saved(x=X + 1, y=Y)
    assert Arrays(path) != first
    for use in (first.prepare, lambda: first.train_set(1, seed=0)):
        with pytest.raises(InputError, match="its content has changed"):
            use()
    with pytest.raises(InputError, match="its content has changed"):
        Arrays(path, digest=first.digest)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"x": X}, "has no y; it holds x"),
        ({"a": X}, "has no x and no y; it holds a"),
        ({"x": X, "y": Y[:-1]}, r"y has shape \(39,\): must be \(40,\)"),
        ({"x": X, "y": Y[:, None]}, r"y has shape \(40, 1\): must be \(40,\)"),
        ({"x": X, "y": np.arange(40)}, "y has 40 distinct values: must have two"),
        ({"x": X, "y": np.ones(40)}, "y has 1 distinct values: must have two"),
        ({"x": X, "y": np.where(Y == 8, np.nan, 1)}, "y has entries that are not finite"),
        ({"x": X, "y": Y.astype(str)}, "y is of type .*: must be of numbers"),
        ({"x": X.astype(complex), "y": Y}, "x is of type complex128: must be of numbers"),
        ({"x": X[:, 0, 0], "y": Y}, r"x has shape \(40,\): must be \(points, ...\)"),
        ({"x": np.float64(1), "y": Y}, r"x has shape \(\): must be \(points, ...\)"),
        ({"x": X[:, :0], "y": Y}, r"x has shape \(40, 0, 3\)"),
        ({"x": np.where(X > 5, np.inf, X), "y": Y}, "x has entries that are not finite"),
        ({"x": np.full((40, 2), 0.1), "y": Y}, "x is 0.1 everywhere: must vary"),
        ({"x": X * 1e307, "y": Y}, "x has deviation .*: too large"),
        ({"x": X.astype(object), "y": Y}, "must be arrays of numbers, not of objects"),
    ],
)
def test_what_is_in_the_file_is_checked(saved, given, said: str) -> None:
    with pytest.raises(InputError, match=rf"data\.npz: .*{said}"):
        Arrays(saved(**given))


def npy() -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, X)
    return buffer.getvalue()


@pytest.mark.parametrize("content", [b"", b"text", npy()])
def test_other_files_are_refused(tmp_path, content: bytes) -> None:
    path = tmp_path / "data.npz"
    path.write_bytes(content)
    with pytest.raises(InputError, match=r"data\.npz: must be an \.npz file"):
        Arrays(path)


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_damaged_files_are_refused(tmp_path, save) -> None:
    path = tmp_path / "data.npz"
    save(path, x=X, y=Y)
    content = bytearray(path.read_bytes())
    content[300:500] = bytes(200)
    path.write_bytes(content)
    with pytest.raises(InputError, match=r"data\.npz: is a damaged \.npz file"):
        Arrays(path)


def test_no_file_and_a_folder_are_refused(tmp_path) -> None:
    for path in (tmp_path / "absent.npz", tmp_path):
        with pytest.raises(InputError, match="must be a file"):
            Arrays(path)
