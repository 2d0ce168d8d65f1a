"""A training that was killed goes on to the same outcome, in every number."""

from __future__ import annotations

import dataclasses
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from sgdphase._records import Outcome
from sgdphase.networks import _checkpoint as checkpoint
from sgdphase.networks import fit, train
from sgdphase.networks._batches import _block
from sgdphase.networks._train import Points, _points


class KilledError(Exception):
    pass


@pytest.fixture(autouse=True)
def short_windows(monkeypatch) -> None:
    """A small training would be over after a few windows of the usual length."""
    monkeypatch.setattr("sgdphase.networks._walk._POINTS", 2)


def kill_after(monkeypatch: Any, saves: int) -> None:
    """Save after every step, and die after so many."""
    whole, count = checkpoint.save, iter(range(saves))

    def save(*arguments: Any) -> None:
        whole(*arguments)
        if next(count, None) is None:
            raise KilledError

    monkeypatch.setattr(checkpoint, "EVERY_SECONDS", 0.0)
    monkeypatch.setattr(checkpoint, "save", save)


def same(one: Outcome, other: Outcome) -> bool:
    plain, again = dataclasses.asdict(one), dataclasses.asdict(other)
    for name in ("observables", "trajectory"):
        ours, theirs = plain.pop(name), again.pop(name)
        assert list(ours) == list(theirs)
        for key in ours:
            assert np.array_equal(ours[key], theirs[key], equal_nan=True), key
    return plain == again


VARIANTS: list[dict[str, Any]] = [
    {"lr": 0.25},
    {"batch": 1, "lr": 0.25},
    {"batch": 64, "lr": 0.25},
    {"batch": 16, "lr": 0.25, "sampler": "epoch"},
    {"momentum": 0.8, "lr": 0.1},
    {"momentum": 0.8, "weight_decay": 1e-3, "max_steps": 150},
    {"loss": "logistic", "batch": 8, "lr": 0.25},
    {"dynamics": "gaussian", "batch": 8, "lr": 0.1},
    {"dynamics": "unfitted", "batch": 8, "lr": 0.1},
]


@pytest.mark.parametrize("fields", VARIANTS, ids=str)
def test_goes_on_to_the_same_outcome(record, monkeypatch, tmp_path: Path, fields) -> None:
    training = record(**fields)
    expected = train(training, trajectory=True)
    path = tmp_path / "state"
    # Killed twice, at a step of the middle and a later one.
    for saves in (7, 12):
        with monkeypatch.context() as patch, pytest.raises(KilledError):
            kill_after(patch, saves)
            train(training, trajectory=True, checkpoint=path)
        _block.cache_clear()
        _points.cache_clear()
    begun = checkpoint.load(path)
    assert begun is not None and 1 < begun[0]["state"]["step"] < expected.steps
    assert ("v0" in begun[1]) == (training.momentum > 0)
    assert same(train(training, trajectory=True, checkpoint=path), expected)


def test_does_not_begin_anew(record, monkeypatch, tmp_path: Path) -> None:
    # The weights come from the file: with others in it, the outcome is another.
    training, path = record(lr=0.25), tmp_path / "state"
    with monkeypatch.context() as patch, pytest.raises(KilledError):
        kill_after(patch, 9)
        train(training, checkpoint=path)
    numbers, arrays = checkpoint.load(path)  # type: ignore[misc]
    checkpoint.save(path, numbers, {name: 1.5 * array for name, array in arrays.items()})
    assert train(training, checkpoint=path)["weight_change"] > 0.4
    assert train(training)["weight_change"] < 0.1


def test_saving_changes_nothing(record, monkeypatch, tmp_path: Path) -> None:
    expected = train(record())
    monkeypatch.setattr(checkpoint, "EVERY_SECONDS", 0.0)
    assert same(train(record(), checkpoint=tmp_path / "state"), expected)
    assert [path.name for path in tmp_path.iterdir()] == ["state"]


def test_short_trainings_are_not_saved(record, tmp_path: Path) -> None:
    train(record(), checkpoint=tmp_path / "state")
    assert not list(tmp_path.iterdir())


def test_seconds_before_the_kill_count(record, monkeypatch, tmp_path: Path) -> None:
    path = tmp_path / "state"
    with monkeypatch.context() as patch, pytest.raises(KilledError):
        kill_after(patch, 3)
        train(record(max_seconds=1e3), checkpoint=path)
    numbers, arrays = checkpoint.load(path)  # type: ignore[misc]
    numbers["state"]["seconds"] = 1e4
    checkpoint.save(path, numbers, arrays)
    assert train(record(max_seconds=1e3), checkpoint=path).status == "budget"


def test_what_is_saved_is_read_back(tmp_path: Path) -> None:
    path = tmp_path / "state"
    assert checkpoint.load(path) is None and checkpoint.load(None) is None
    numbers = {"step": 2**60, "x": 0.1, "none": math.inf, "rows": [[1, 2.5]]}
    arrays = {"w0": np.float32([[1.5, np.nan]]), "w1": np.array(2.0)}
    checkpoint.save(path, numbers, arrays)
    read, found = checkpoint.load(path)  # type: ignore[misc]
    assert read == numbers and list(found) == ["w0", "w1"]
    for name, array in arrays.items():
        assert found[name].dtype == array.dtype
        assert np.array_equal(found[name], array, equal_nan=True)


def test_a_file_that_is_not_whole_is_as_good_as_none(record, monkeypatch, tmp_path: Path) -> None:
    training, path = record(), tmp_path / "state"
    expected = train(training)
    with monkeypatch.context() as patch, pytest.raises(KilledError):
        kill_after(patch, 5)
        train(training, checkpoint=path)
    whole = path.read_bytes()
    for size in range(0, len(whole), 97):
        path.write_bytes(whole[:size])
        assert checkpoint.load(path) is None
    assert same(train(training, checkpoint=path), expected)
    for junk in (b"", b"\0" * 5000, b"PK\x03\x04" + b"x" * 300, b"{}", b"\x93NUMPY" * 9):
        path.write_bytes(junk)
        assert checkpoint.load(path) is None


def test_a_damaged_file_is_never_an_error(tmp_path: Path) -> None:
    path = tmp_path / "state"
    checkpoint.save(path, {"step": 3}, {"w0": np.arange(40.0), "w1": np.array(2.0)})
    whole = bytearray(path.read_bytes())
    rng = np.random.default_rng(0)
    for place, byte in zip(rng.integers(len(whole), size=400), rng.bytes(400), strict=True):
        damaged = whole.copy()
        damaged[place] = byte
        path.write_bytes(damaged)
        found = checkpoint.load(path)
        assert found is None or found[0] == {"step": 3}


def test_a_disk_that_is_full_ends_no_training(record, monkeypatch, tmp_path: Path) -> None:
    def full(*arguments: Any, **named: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(np, "savez", full)
    monkeypatch.setattr(checkpoint, "EVERY_SECONDS", 0.0)
    assert train(record(), checkpoint=tmp_path / "state").status == "fitted"


def test_modules_of_the_user_go_on_too(record, points, monkeypatch, tmp_path: Path) -> None:
    training, path = record(lr=0.1, momentum=0.5, margin=0.1), tmp_path / "state"

    def run(**options: Any) -> Outcome:
        torch.manual_seed(0)
        module = torch.nn.Sequential(
            torch.nn.Linear(8, 16), torch.nn.Tanh(), torch.nn.Linear(16, 1), torch.nn.Flatten(0)
        ).double()
        data, test = points(training), points(training, "test")
        assert isinstance(data, Points)
        return fit(module, data, test, training, trajectory=True, **options)

    expected = run()
    with monkeypatch.context() as patch, pytest.raises(KilledError):
        kill_after(patch, 20)
        run(checkpoint=path)
    assert same(run(checkpoint=path), expected)
