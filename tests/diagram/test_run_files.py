"""Tables of runs in every form that people have them in: the same columns."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from sgdphase.diagram._run_files import run_columns
from sgdphase.errors import InputError

RUNS = {"lr": [0.1, 0.2], "bs": [8, 16], "loss": [1.5, None], "model": ["mlp", "cnn"]}
RECORDS = [dict(zip(RUNS, row, strict=True)) for row in zip(*RUNS.values(), strict=True)]
CSV = "lr,bs,loss,model\n0.1,8,1.5,mlp\n0.2,16,,cnn\n"


def expected(columns: dict) -> None:
    assert columns["lr"].tolist() == [0.1, 0.2]
    assert columns["bs"].tolist() == [8.0, 16.0]
    assert columns["loss"][0] == 1.5
    assert np.isnan(columns["loss"][1])
    assert columns["model"].tolist() == ["mlp", "cnn"]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.csv", CSV),
        ("a.csv", "\ufeff" + CSV),
        ("a.csv", CSV.replace("\n", "\r\n")),
        ("a.csv", CSV.replace(",", ";")),
        ("a.tsv", CSV.replace(",", "\t")),
        ("a.jsonl", "".join(json.dumps(record) + "\n" for record in RECORDS)),
        ("a.json", json.dumps(RECORDS)),
        ("a.json", json.dumps(RUNS)),
    ],
)
def test_files(tmp_path: Path, name: str, text: str):
    path = tmp_path / name
    path.write_text(text)
    expected(run_columns(path))
    packed = tmp_path / f"{name}.gz"
    packed.write_bytes(gzip.compress(text.encode()))
    expected(run_columns(packed))


def test_pandas_parquet_and_a_study(tmp_path: Path):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(RECORDS)
    expected(run_columns(frame))
    frame.to_parquet(tmp_path / "a.parquet")
    expected(run_columns(tmp_path / "a.parquet"))


def test_an_optuna_study():
    trials = [
        SimpleNamespace(params={"lr": 0.1}, value=1.0, state=SimpleNamespace(name="COMPLETE")),
        SimpleNamespace(params={"lr": 0.2}, value=None, state=SimpleNamespace(name="FAIL")),
    ]
    columns = run_columns(SimpleNamespace(trials=trials))
    assert columns["lr"].tolist() == [0.1, 0.2]
    assert columns["state"].tolist() == ["COMPLETE", "FAIL"]


def test_odd_entries(tmp_path: Path):
    path = tmp_path / "a.csv"
    path.write_text("\nlr;acc;loss\n0,1;91,5%;1,5e-3\n0,2;diverged;2;\n")
    columns = run_columns(path)
    assert columns["lr"].tolist() == [0.1, 0.2]
    assert columns["acc"][0] == 91.5 and np.isnan(columns["acc"][1])
    assert columns["loss"].tolist() == [0.0015, 2.0]


def test_polars():
    polars = pytest.importorskip("polars")
    expected(run_columns(polars.DataFrame(RECORDS)))


def test_nested_records_have_names_with_dots():
    columns = run_columns([{"config": {"lr": 0.1}, "summary": {"loss": 2}}])
    assert {name: c.tolist() for name, c in columns.items()} == {
        "config.lr": [0.1],
        "summary.loss": [2.0],
    }


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.csv", b"", "the table has no rows"),
        ("a.csv", b"lr,loss\n", "the table has no rows"),
        ("a.csv", b"lr,loss\n1\n", "line 2 has 1 values, the first line 2"),
        ("a.csv", b"lr,lr\n1,2\n", "column lr: stands twice in the first line"),
        ("a.csv", b"lr\n\x00\x01\n", "holds bytes that are no text"),
        ("a.csv", b"\xff\xfel\x00r\x00\n", "is not a csv file"),  # UTF-16, cut
        ("a.jsonl", b"{\n", "is not a jsonl file"),
        ("a.json", b"3", "must hold a list of records, or an object of columns"),
        ("a.json", b'{"a": [1], "b": [1, 2]}', "columns of different lengths: 1, 2"),
        ("a.xlsx", b"", "must end in .csv, .tsv, .jsonl, .json or .parquet"),
        ("a.csv.gz", b"no gzip", "cannot be read"),
    ],
)
def test_what_is_no_table_says_so(tmp_path: Path, name: str, content: bytes, message: str):
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(InputError, match=message):
        run_columns(path)


def test_a_file_that_is_not_there():
    with pytest.raises(InputError, match=r"nope\.csv: no such file"):
        run_columns("nope.csv")
    with pytest.raises(InputError, match="runs = 3: must be a path"):
        run_columns(3)
