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


# Points of two classes.
FEW = np.random.default_rng(0).standard_normal((12, 2))
TWO = np.array([0, 1] * 6)

LABELS: dict[str, Any] = {
    "negative": np.array([-1, 1] * 10),
    "uint8": np.array([200, 3] * 10, dtype=np.uint8),
    "bool": np.array([True, False] * 10),
    "tensor": torch.tensor([7, -(2**40)] * 10),
    "whole floats": np.array([0.0, 2.0] * 10, dtype=np.float32),
    "column": np.array([[1], [2]] * 10),
    "list": [5, 6] * 10,
    "three": torch.arange(20) % 3 * 4 + 3,
}


@pytest.mark.parametrize("kind", LABELS)
def test_labels_of_any_whole_kind_are_numbered_in_order(kind: str) -> None:
    y = np.asarray(torch.as_tensor(LABELS[kind]).numpy()).ravel().astype(int)
    own = problem((np.arange(20.0), LABELS[kind]))
    found = own.train_set(20, 1)
    names = sorted(set(y.tolist()))
    assert [int(c) for c in own.classes] == names
    assert [names[number] for number in found.y] == y[found.x.astype(int)].tolist()


class _Points:
    """A plain class, as a map-style Dataset is."""

    def __init__(self, x: Any, y: Any) -> None:
        self.x, self.y = x, y

    def __len__(self) -> int:
        return len(self.y)

    def __getitem__(self, index: int) -> Any:
        return self.x[index], self.y[index]


class _Stream(torch.utils.data.IterableDataset):  # type: ignore[misc]
    def __iter__(self) -> Any:
        yield torch.zeros(2), 1


WITH_NAN = np.where(np.arange(12)[:, None] == 5, np.nan, FEW)


REFUSED: dict[str, tuple[Any, str]] = {
    "nan labels": (
        (FEW, np.where(TWO > 0, np.nan, 1.0)),
        "labels have entries that are not finite",
    ),
    "nan targets": (
        (FEW, np.where(TWO > 0, np.nan, 0.5)),
        "labels have entries that are not finite",
    ),
    "short": ((FEW, TWO[:-1]), r"shape \(11,\): must be \(12,\)"),
    "single": ((FEW, TWO * 0 + 3), "all labels are 3: must be of two classes or more"),
    "names": ((FEW, [f"point {n}" for n in range(12)]), "12 of 12 labels differ: must be classes"),
    "missing": ((FEW, np.array(["a", None] * 6)), "labels are of type object .*with none missing"),
    "mixed": ((FEW, np.array(["a", 1] * 6, dtype=object)), "labels are of type object"),
    "texts each": ((FEW, np.array([["a", "b"]] * 12)), "must be numbers, or one text per point"),
    "complex labels": ((FEW, TWO * 1j), "labels are of type complex128"),
    "texts as inputs": ((np.array([["1"], ["2"]] * 6), TWO), "inputs are of type <U1: must be num"),
    "nan": ((WITH_NAN, TWO), "not finite"),
    "infinite": ((FEW.astype(np.float32) * np.inf, TWO), "not finite"),
    "complex": ((FEW * 1j, TWO), "complex128: must be numbers"),
    "ragged": ((np.array([[1], [1, 2]], dtype=object), [0, 1]), "object: must be numbers"),
    "scalar": ((np.array(1.0), TWO), "must be"),
    "empty": ((np.zeros((0, 2)), []), "must be"),
    "loader of a stream": (
        torch.utils.data.DataLoader(_Stream()),
        "_Stream: must give x, y as arrays or tensors, or a map-style Dataset",
    ),
    "iterable": (_Stream(), "_Stream: must give x, y as arrays or tensors, or a map-style Dataset"),
    "generator": ((n for n in range(3)), "generator: must give x, y"),
    "nothing": (None, "NoneType: must give x, y"),
    "unequal": (
        _Points([np.zeros(2), np.zeros(3), np.zeros(2)], [0, 1, 0]),
        r"points have shapes \[\(2,\), \(3,\)\]: must all be alike",
    ),
    "no pairs": ([1.0, 2.0, 3.0], "must be a pair of input and label"),
    "one array": (np.zeros((4, 3)), "must give two, x and y"),
    "triples": ([(1, 2, 3)] * 4, "must be a pair of input and label"),
    "no points": (_Points([], []), "empty Dataset"),
    "unequal labels": (
        _Points(FEW, [np.zeros(2), np.zeros(3)] * 6),
        r"labels have shapes \[\(2,\), \(3,\)\]: must all be alike",
    ),
}


@pytest.mark.parametrize("kind", REFUSED)
def test_what_are_no_points_with_labels_is_refused_in_one_line(kind: str) -> None:
    what, why = REFUSED[kind]
    with pytest.raises(InputError, match=rf"\Ayour code, data\(\): [^\n]*({why})[^\n]*\Z"):
        user_functions(user_code(model=lambda: None, data=lambda: what))


def test_datasets_of_torch_and_plain_ones_are_the_same_as_arrays() -> None:
    x, y = FEW.astype(np.float32), TWO
    tensors = torch.from_numpy(x), torch.from_numpy(y)
    expected = problem((x, y)).train_set(12, 4)
    kinds = [
        tensors,
        torch.utils.data.TensorDataset(*tensors),
        torch.utils.data.Subset(torch.utils.data.TensorDataset(*tensors), range(12)),
        _Points(x, y),
        _Points(list(tensors[0]), tensors[1][:, None]),
        list(zip(x, y, strict=True)),
    ]
    for kind in kinds:
        own = problem(kind)
        found = own.train_set(12, 4)
        assert found.x.dtype == np.float32 and not own.changes
        assert np.array_equal(found.x, expected.x) and np.array_equal(found.y, expected.y)


def test_what_the_user_holds_is_neither_kept_nor_changed() -> None:
    x, y = FEW.copy(), TWO.copy()
    own = problem((x, y))
    found = own.train_set(12, 0)
    x += 1
    assert np.array_equal(
        found.x, FEW[np.argsort(FEW[:, 0])][np.argsort(np.argsort(found.x[:, 0]))]
    )
    assert np.array_equal(own.train_set(12, 0).x, found.x)


def test_numbers_of_another_byte_order_are_read() -> None:
    found = problem((FEW.astype(">f4"), TWO.astype(">i2"))).train_set(12, 0)
    plain = problem((FEW.astype("f4"), TWO.astype("i2"))).train_set(12, 0)
    assert found.x.dtype.isnative and found.y.dtype.isnative  # torch takes no other
    assert np.array_equal(np.sort(found.x, axis=0), np.sort(plain.x, axis=0))
    assert found.y.sum() == plain.y.sum() == 6
