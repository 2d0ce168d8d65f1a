"""The tables of runs: what is written is read again."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from sgdphase._records import Outcome, Training
from sgdphase._sweep import Run, grid
from sgdphase.errors import InputError
from sgdphase.paper._runs import Runs
from sgdphase.paper._tables import digest, read_tables, write_tables
from sgdphase.problems import MnistParity, TeacherTask


def runs() -> Runs:
    """Of a perceptron with a budget and one without, and of a network that diverged."""
    trainings = [
        *grid(dim=8, chi=0.5, train_size=32, lr=1 / 3, batch=[1, 2], max_time=8.0),
        Training(TeacherTask(8), 32, lr=2.0**-20, batch=32, weight_decay=0.1, max_steps=7),
        Training(MnistParity(), 64, lr=0.1, batch=4, model="fc", depth=2, margin=2.0**-15),
    ]
    time = np.array([1 / 3, 2 / 3])
    outcomes = [
        Outcome("fitted", 12, 4.0, {"w1": 1 / 7}, {"time": time, "w1": time**2}),
        Outcome("budget", 24, 8.0, {"w1": -1e-30}, {"time": time, "w1": time**3}),
        Outcome("fitted", 5, 5 * 2.0**-20, {"w1": 3.0}),
        Outcome("diverged", 3, 0.3, {"alignment": float("nan"), "test_error": 0.5}),
    ]
    return Runs(tuple(Run(t, o, 0.5) for t, o in zip(trainings, outcomes, strict=True)))


def test_what_is_written_is_read_again(tmp_path: Path) -> None:
    given = runs()
    write_tables(tmp_path, "x", given, {"figure": "x", "seeds": [0]}, in_time=("time", "w1"))
    back, provenance = read_tables(tmp_path, "x")
    assert provenance == {"figure": "x", "seeds": [0]}
    assert [run.training for run in back.runs] == [run.training for run in given.runs]
    assert [run.training.key for run in back.runs] == [run.training.key for run in given.runs]
    for one, other in zip(given.runs, back.runs, strict=True):
        assert (other.outcome.status, other.outcome.steps) == (
            one.outcome.status,
            one.outcome.steps,
        )
        assert other.outcome.time == one.outcome.time and other.seconds == one.seconds
        assert dict(other.outcome.observables) == pytest.approx(
            dict(one.outcome.observables), rel=1e-8, nan_ok=True
        )
        assert other.outcome.trajectory.keys() == one.outcome.trajectory.keys()
        for name, values in one.outcome.trajectory.items():
            np.testing.assert_allclose(other.outcome.trajectory[name], values, rtol=1e-4)


def test_written_tables_are_written_the_same_again(tmp_path: Path) -> None:
    """So that verdicts from tables that were read and written do not move."""
    columns = ("time", "w1")
    write_tables(tmp_path, "x", runs(), {}, in_time=columns)
    write_tables(tmp_path, "y", read_tables(tmp_path, "x")[0], {}, in_time=columns)
    for ending in (".csv.gz", ".trajectories.csv.gz"):
        assert (tmp_path / f"x{ending}").read_bytes() == (tmp_path / f"y{ending}").read_bytes()


def test_digest_sees_both_tables(tmp_path: Path) -> None:
    given = runs()
    write_tables(tmp_path, "x", given, {}, in_time=("time", "w1"))
    write_tables(tmp_path, "y", given, {}, in_time=("time",))
    write_tables(tmp_path, "z", Runs(given.runs[:3]), {}, in_time=("time", "w1"))
    assert len({digest(tmp_path, name) for name in "xyz"}) == 3


def test_tables_without_runs(tmp_path: Path) -> None:
    write_tables(tmp_path, "x", Runs(()), {"figure": "x"})
    assert read_tables(tmp_path, "x") == (Runs(()), {"figure": "x"})


def test_missing_trajectories_are_named(tmp_path: Path) -> None:
    write_tables(tmp_path, "x", runs(), {})
    with pytest.raises(InputError, match=r"^'[^']*x\.trajectories\.csv\.gz': does not exist$"):
        read_tables(tmp_path, "x", in_time=("time", "w1"))


@pytest.mark.parametrize("content", [b"", b"nonsense", None])
def test_what_is_no_table_is_refused_in_one_line(tmp_path: Path, content: bytes | None) -> None:
    if content is not None:
        (tmp_path / "x.csv.gz").write_bytes(content)
    with pytest.raises(InputError, match=r"x\.csv\.gz") as error:
        read_tables(tmp_path, "x")
    assert "\n" not in str(error.value)
