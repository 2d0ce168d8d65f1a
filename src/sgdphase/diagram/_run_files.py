"""Tables of runs from elsewhere: files, DataFrames, studies, stores, as columns by name."""

from __future__ import annotations

import codecs
import csv
import gzip
import json
import re
import zlib
from collections.abc import Mapping
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sgdphase._extras import extra
from sgdphase.errors import InputError, one_line

RunColumns = dict[str, NDArray[Any]]
FORMATS = ".csv, .tsv, .jsonl, .json or .parquet (the first four also with .gz)"


def run_columns(source: Any) -> RunColumns:
    """The columns of whatever holds runs; numbers as floats, all else as texts."""
    if isinstance(source, str | Path):
        source = _file(Path(source))
    elif hasattr(source, "trials"):  # an Optuna study
        source = [
            {**trial.params, "value": trial.value, "state": trial.state.name}
            for trial in source.trials
        ]
    elif callable(getattr(source, "table", None)):  # a store, or the summary of a sweep
        source = source.table()
    if hasattr(source, "to_dict") and hasattr(source, "columns"):  # pandas or polars
        source = {str(name): source[name].to_list() for name in source.columns}
    if isinstance(source, list | tuple) and all(isinstance(row, Mapping) for row in source):
        source = _of_records(source)
    if not isinstance(source, Mapping):
        raise InputError(
            f"runs = {one_line(source)}: must be a path, a DataFrame, a store, a study, a list of "
            "records or a dict of columns"
        )
    columns = {str(name): _column(list(values)) for name, values in source.items()}
    sizes = {values.size for values in columns.values()}
    if sizes - {0} == set():
        raise InputError("the table has no rows")
    if len(sizes) > 1:
        raise InputError(f"columns of different lengths: {', '.join(map(str, sorted(sizes)))}")
    return columns


def _file(path: Path) -> Any:
    suffixes = [suffix.lower() for suffix in path.suffixes]
    packed = suffixes[-1:] == [".gz"]
    kind = (suffixes[-2:-1] if packed else suffixes[-1:]) or [""]
    parquet = kind == [".parquet"] and not packed
    if not path.exists():
        raise InputError(f"{path}: no such file")
    if not parquet and kind[0] not in _READERS:
        raise InputError(f"{path}: must end in {FORMATS}")
    try:
        if parquet:
            return extra("pandas", "export").read_parquet(path)
        content = gzip.decompress(path.read_bytes()) if packed else path.read_bytes()
        return _READERS[kind[0]](StringIO(_text(content), newline=""))
    except FileNotFoundError:
        raise InputError(f"{path}: no such file") from None
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror or error})") from None
    except InputError as error:
        raise InputError(f"{path}: {error}") from None
    # Texts that are none, JSON that is broken or nested too deep.
    except (ValueError, csv.Error, EOFError, zlib.error, RecursionError) as error:
        raise InputError(f"{path}: is not a {kind[0][1:]} file ({one_line(error)})") from None


def _text(content: bytes) -> str:
    """Text in UTF-8, in UTF-16 as spreadsheets save it, or else in Latin-1."""
    if content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return content.decode("utf-16")
    if b"\0" in content:
        raise InputError("holds bytes that are no text")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return content.decode("latin-1")


def _csv(file: Any, delimiter: str = "") -> dict[str, list[str]]:
    """Columns by the first line; the delimiter is the one of `,;\\t` that stands there most.

    Before it may stand the line of provenance of a figure's runs, `# {...}`.
    """
    lines = ((n, line) for n, line in enumerate(file, 1) if line.strip())
    start, first = next((it for it in lines if not it[1].startswith("# {")), (0, ""))
    if not first:
        raise InputError("the table has no rows")
    delimiter = delimiter or max(",;\t", key=first.count)
    names = [name.strip() for name in next(csv.reader([first], delimiter=delimiter))]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise InputError(f"column {', '.join(twice)}: stands twice in the first line")
    comma = str.maketrans(",", ".") if delimiter == ";" else {}
    rows = []
    reader = csv.reader(file, delimiter=delimiter)
    for row in reader:
        row = row[:-1] if len(row) == len(names) + 1 and not row[-1] else row
        if row and len(row) != len(names):
            raise InputError(
                f"line {start + reader.line_num} has {len(row)} values, the first line {len(names)}"
            )
        rows += [row] if row else []
    columns = zip(*rows, strict=True) if rows else [()] * len(names)
    return {
        name: [_DECIMAL.sub(lambda m: m[0].translate(comma), text) for text in column]
        for name, column in zip(names, columns, strict=True)
    }


def _json_lines(file: Any) -> list[Any]:
    return [json.loads(line) for line in file if line.strip()]


def _json(file: Any) -> Any:
    content = json.load(file)
    is_table = isinstance(content, Mapping) and all(isinstance(v, list) for v in content.values())
    is_records = isinstance(content, list) and all(isinstance(row, Mapping) for row in content)
    if not (is_table or is_records):
        raise InputError("must hold a list of records, or an object of columns")
    return content


_READERS: dict[str, Any] = {
    ".csv": _csv, ".tsv": lambda file: _csv(file, "\t"), ".txt": _csv,
    ".jsonl": _json_lines, ".ndjson": _json_lines, ".json": _json,
}  # fmt: skip


def _of_records(rows: Any) -> dict[str, list[Any]]:
    """Columns of records, whose nested records have names with dots: `config.lr`."""
    flat = [_flat(row) for row in rows]
    return {
        name: [row.get(name) for row in flat] for name in dict.fromkeys(n for r in flat for n in r)
    }


def _flat(record: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    values: dict[str, Any] = {}
    for name, value in record.items():
        if isinstance(value, Mapping):
            values |= _flat(value, f"{prefix}{name}.")
        else:
            values[f"{prefix}{name}"] = value
    return values


def _column(values: list[Any]) -> NDArray[Any]:
    """Floats, NaN where empty, if every entry that is not empty is a number; else texts."""
    try:
        return np.array([_number(value) for value in values], dtype=np.float64)
    except (TypeError, ValueError):
        return np.array(["" if value is None else str(value) for value in values])


def _number(value: Any) -> float:
    if value is None or type(value).__name__ in ("NAType", "NaTType"):  # of pandas
        return np.nan
    if isinstance(value, str):
        value = value.strip().lower()
        if value in _EMPTY:
            return np.nan
        value = value.removesuffix("%")
    if isinstance(value, bool | np.bool_) or np.ndim(value):
        raise TypeError
    return float(value)


_EMPTY = {
    "", "na", "n/a", "none", "null", "nat", "<na>", "-",
    "diverged", "failed", "fail", "crashed", "oom", "error",
}  # fmt: skip
# A number with a decimal comma, where columns are separated by another sign.
_DECIMAL = re.compile(r"^-?\d+,\d+(e-?\d+)?%?$", re.IGNORECASE)
