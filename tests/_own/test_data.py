"""What `data()` may give: tables, texts, targets, datasets and loaders."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from sgdphase._own import UserProblem
from sgdphase._own.code import user_code
from sgdphase._own.problem import user_functions
from sgdphase.errors import InputError

torch = pytest.importorskip("torch")
from torch.utils.data import DataLoader, TensorDataset  # noqa: E402

POINTS = 24
X = np.random.default_rng(0).standard_normal((POINTS, 3))
NAMES = np.array(["cat", "ant", "bee"] * 8)


def problem(data: Any, **more: Callable[[], Any]) -> UserProblem:
    return user_functions(user_code(model=lambda: None, data=lambda: data, **more))


def in_order(own: UserProblem, *, targets: bool = False) -> tuple[Any, Any]:
    """All points as `data()` gave them: sorted by the first input."""
    found = own.train_set(own.points, 3, targets=targets)
    back = np.argsort(np.argsort(X[:, 0]))
    order = np.argsort(found.x[:, 0])[back]
    return found.x[order], found.y[order]


class Table:
    """As little of a DataFrame as matters."""

    def __init__(self, columns: dict[str, Any]) -> None:
        self._columns = {name: np.asarray(column) for name, column in columns.items()}
        self.columns = list(columns)
        self.shape = len(next(iter(self._columns.values()))), len(columns)

    def __getitem__(self, name: str) -> Any:
        return self._columns[name]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        kinds = {column.dtype.kind for column in self._columns.values()}
        kind = object if len(kinds) > 1 else dtype
        return np.stack([column.astype(kind) for column in self._columns.values()], axis=1)


COLUMNS = {"height": X[:, 0], "is_red": X[:, 1] > 0, "count": np.arange(POINTS)}


def pandas_table(columns: dict[str, Any]) -> Any:
    pandas = pytest.importorskip("pandas")
    # The index is no part of the order.
    return pandas.DataFrame(columns, index=np.random.default_rng(1).permutation(POINTS))


@pytest.mark.parametrize("table", [Table, pandas_table])
def test_tables_are_their_numbers(table: Callable[[dict[str, Any]], Any]) -> None:
    own = problem((table(COLUMNS), NAMES))
    x, y = in_order(own)
    assert x.dtype == np.float64
    assert np.array_equal(x, np.stack([*COLUMNS.values()], axis=1).astype(float))
    assert own.classes.tolist() == ["ant", "bee", "cat"]
    assert y.tolist() == [2, 0, 1] * 8


@pytest.mark.parametrize("table", [Table, pandas_table])
def test_columns_that_are_no_numbers_are_named(table: Callable[[dict[str, Any]], Any]) -> None:
    wrong = {"colour": NAMES.astype(object), "size": np.array([1, None] * 12)}
    with pytest.raises(InputError, match=r"data\(\): columns colour, size hold no numbers"):
        problem((table(COLUMNS | wrong), NAMES))


def test_columns_of_pandas_are_labels() -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"x": X[:, 0], "name": NAMES, "value": X[:, 1]})
    frame["category"] = frame["name"].astype("category")
    frame["number"] = pandas.Series([1, 0, 2] * 8, dtype="Int64")
    for name in ("name", "category"):
        own = problem((frame[["x"]], frame[name]))
        assert own.classes.tolist() == ["ant", "bee", "cat"]
        assert in_order(own)[1].tolist() == [2, 0, 1] * 8
    assert in_order(problem((frame[["x"]], frame["number"])))[1].tolist() == [1, 0, 2] * 8
    for targets in (frame["value"], frame[["value"]]):
        own = problem((frame[["x"]], targets))
        assert not own.has_classes
        assert np.array_equal(in_order(own, targets=True)[1], X[:, 1])
    frame.loc[3, "number"] = pandas.NA
    with pytest.raises(InputError, match=r"labels .*(not finite|none missing)"):
        problem((frame[["x"]], frame["number"]))


@pytest.mark.parametrize(
    "names", [NAMES, NAMES.tolist(), NAMES.astype(object), NAMES[:, None]], ids=str
)
def test_texts_are_classes_in_their_order(names: Any) -> None:
    own = problem((X, names))
    assert own.has_classes and own.classes.tolist() == ["ant", "bee", "cat"]
    assert in_order(own)[1].tolist() == [2, 0, 1] * 8
    # The same classes, whatever part of them the test data have.
    tested = problem((X, names), test_data=lambda: (X[:2], ["cat", "cat"]))
    assert tested.test_set(2, 0).y.tolist() == [2, 2]
    with pytest.raises(InputError, match=r"test_data\(\): labels \['dog'\] are not among those of"):
        problem((X, names), test_data=lambda: (X[:2], ["cat", "dog"]))
    with pytest.raises(InputError, match=r"test_data\(\): labels are of type int64 .*like those"):
        problem((X, names), test_data=lambda: (X[:2], [0, 1]))


TARGETS: dict[str, Any] = {
    "numbers": X[:, 1],
    "column": X[:, 1:2],
    "several": X[:, 1:],
    "float32": X[:, 1].astype(np.float32),
    "tensor": torch.from_numpy(X[:, 1:]),
    "all differ": np.arange(POINTS) * 3,
}


@pytest.mark.parametrize("kind", TARGETS)
def test_targets_of_a_regression(kind: str) -> None:
    own = problem((X, TARGETS[kind]), test_data=lambda: (X[:4], TARGETS[kind][:4]))
    assert not own.has_classes
    x, y = in_order(own, targets=True)
    assert np.array_equal(x, X) and y.dtype == np.float64
    expected = np.asarray(TARGETS[kind], dtype=np.float64)
    assert np.array_equal(y, expected[:, 0] if kind == "column" else expected)
    assert own.test_set(4, 0, targets=True).y.shape == (4, *y.shape[1:])
    with pytest.raises(InputError, match="look like those of a regression"):
        own.train_set(4, 0)
    with pytest.raises(InputError, match="labels look like those of a regression: give --loss mse"):
        own.classes  # noqa: B018


def test_whole_numbers_serve_as_classes_and_as_targets() -> None:
    stars = np.array([5, 1, 3] * 8)
    own = problem((X, stars))
    assert own.has_classes
    assert in_order(own)[1].tolist() == [2, 0, 1] * 8
    assert in_order(own, targets=True)[1].tolist() == stars.tolist()


def test_one_hot_labels_are_classes() -> None:
    numbers = np.array([2, 0, 1] * 8)
    for labels in (np.eye(4)[numbers], np.eye(4, dtype=bool)[numbers]):
        own = problem((X, labels))
        assert own.classes.tolist() == [0, 1, 2, 3]
        assert in_order(own)[1].tolist() == numbers.tolist()
        assert in_order(own, targets=True)[1].tolist() == np.eye(4)[numbers].tolist()
    # Several at a time, or shares, are no classes.
    for labels in (np.eye(4)[numbers] + np.eye(4)[0], np.full((POINTS, 2), 0.5)):
        assert not problem((X, labels)).has_classes


class Points:
    """A map-style Dataset that is no class of torch."""

    def __init__(self, y: Any) -> None:
        self.y = y

    def __len__(self) -> int:
        return POINTS

    def __getitem__(self, index: int) -> Any:
        return X[index], self.y[index]


def test_datasets_of_texts_and_of_targets() -> None:
    assert in_order(problem(Points(NAMES.tolist())))[1].tolist() == [2, 0, 1] * 8
    for y in (X[:, 1], X[:, 1:2], torch.from_numpy(X[:, 1])):
        own = problem(Points(y))
        assert not own.has_classes
        assert np.array_equal(in_order(own, targets=True)[1], X[:, 1])
    assert np.array_equal(in_order(problem(Points(X[:, 1:])), targets=True)[1], X[:, 1:])


def test_the_dataset_of_a_loader_is_taken_and_that_is_said() -> None:
    dataset = TensorDataset(torch.from_numpy(X), torch.arange(POINTS) % 3)
    loader = DataLoader(dataset, batch_size=7, shuffle=True, drop_last=True)
    own, plain = problem(loader), problem(dataset)
    assert own.points == POINTS
    for got, expected in zip(in_order(own), in_order(plain), strict=True):
        assert np.array_equal(got, expected)
    assert plain.notes == ()
    assert own.notes == ("data() gives a DataLoader: its dataset is used; batches are drawn here",)
