"""Files for other programs hold what the store holds."""

from __future__ import annotations

import csv
import sys
from pathlib import Path

import numpy as np
import pytest

from sgdphase._sweep import Store, grid, sweep
from sgdphase._sweep.exports import export
from sgdphase.errors import InputError


@pytest.fixture
def store(tmp_path: Path) -> Store:
    store = Store(tmp_path / "runs.sqlite")
    shape = {"dim": 8, "train_size": 64, "seeds": 2, "model": "toy_trainer:raises"}
    plan = grid(lr=[0.5, 1.0, 2.0], batch=[1, 2, 8], **shape)  # type: ignore[arg-type]
    sweep(plan[:-1], store, workers=0, trajectories=True)
    return store


def test_csv(store: Store, tmp_path: Path) -> None:
    written = export(store, tmp_path / "out.csv", trajectories=True)
    assert [path.name for path in written] == ["out.csv", "out.trajectories.csv"]
    with written[0].open(newline="") as file:
        rows = list(csv.DictReader(file))
    table = store.table()
    for name, column in table.items():
        texts = column.dtype.kind == "U"
        back = [row[name] if texts else float(row[name]) for row in rows]
        np.testing.assert_array_equal(back, column)
    assert "RuntimeError" in next(row["traceback"] for row in rows if row["status"] == "failed")
    with written[1].open(newline="") as file:
        points = list(csv.DictReader(file))
    assert len(points) == 3 * int((table["status"] != "failed").sum())
    assert points[1]["w1"] == "nan"


def test_parquet(store: Store, tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    (path,) = export(store, tmp_path / "out.parquet", trajectories=True)
    back = parquet.read_table(path).to_pydict()
    for name, column in store.table().items():
        np.testing.assert_array_equal(back[name], column)
    runs = store.runs(trajectories=True)
    for points, run in zip(back["trajectory_w1"], runs, strict=True):
        np.testing.assert_array_equal(points or [], run.outcome.trajectory.get("w1", []))


def test_netcdf(store: Store, tmp_path: Path) -> None:
    xarray = pytest.importorskip("xarray")
    pytest.importorskip("netCDF4")
    (path,) = export(store, tmp_path / "out.nc", trajectories=True)
    with xarray.open_dataset(path, engine="netcdf4") as back:
        assert dict(back.sizes) == {"lr": 3, "batch": 3, "seed": 2, "point": 3}
        assert back["dim"] == 8
        for run in store.runs(trajectories=True):
            cell = back.sel(lr=run.training.lr, batch=run.training.batch, seed=run.training.seed)
            assert cell["status"] == run.outcome.status
            assert cell["steps"] == run.outcome.steps
            for name, points in run.outcome.trajectory.items():
                np.testing.assert_array_equal(cell[f"trajectory_{name}"], points)
        left = back.sel(lr=2.0, batch=8, seed=1)
        assert left["status"] == "missing"
        assert np.isnan(left["w1"])


def test_a_sweep_of_temperatures_has_them_as_a_dimension(tmp_path: Path) -> None:
    xarray = pytest.importorskip("xarray")
    pytest.importorskip("netCDF4")
    store = Store(tmp_path / "runs.sqlite")
    plan = grid(
        dim=8, train_size=64, temperature=[0.1, 0.3], batch=[1, 4, 16], model="toy_trainer:train"
    )
    sweep(plan, store, workers=0)
    (path,) = export(store, tmp_path / "out.nc")
    with xarray.open_dataset(path, engine="netcdf4") as back:
        assert dict(back.sizes) == {"batch": 3, "temperature": 2}


def test_what_cannot_be_exported(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(InputError, match=r"must end in .csv, .parquet, .nc"):
        export(store, tmp_path / "out.xlsx")
    with pytest.raises(InputError, match="holds no runs of model 'fc'"):
        export(store, tmp_path / "out.csv", model="fc")
    without = Store(tmp_path / "without.sqlite")
    sweep([store.runs()[0].training], without, workers=0)
    with pytest.raises(InputError, match="holds no trajectories; sweep with"):
        export(without, tmp_path / "out.csv", trajectories=True)
    assert not (tmp_path / "out.csv").exists()
    with pytest.raises(InputError, match="there is no folder"):
        export(store, tmp_path / "no" / "out.csv")
    for name in ("xarray", "pyarrow"):
        monkeypatch.setitem(sys.modules, name, None)
    for ending in ("nc", "parquet"):
        with pytest.raises(InputError, match=r"is not installed: pip install 'sgdphase\[export\]'"):
            export(store, tmp_path / f"out.{ending}")
