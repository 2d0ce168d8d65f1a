"""Where a command writes its metrics, and how they are read after it has ended.

`NAME=json:FILE:KEY` is a key of a JSON file, `NAME=jsonl:FILE:KEY` the last line of a file of JSON
lines that has the key, `NAME=stdout:REGEX` the group of the last match in what it printed.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any, Literal, cast

from sgdphase._parameters import PARAMETERS
from sgdphase.errors import InputError, UserError, one_line

STDOUT = "stdout.txt"
_VALID = "NAME=json:FILE:KEY, NAME=jsonl:FILE:KEY or NAME=stdout:REGEX"
_SPEC = re.compile(r"(?:([^=:]*)=)?(json|jsonl|stdout):(.+)")
# Columns of the table of runs. `steps` is no observable, but may be given.
_TAKEN = {
    *(each.name for each in PARAMETERS), "command", "metrics", "digest", "shell", "start",
    "depends", "timeout", "status", "time", "seconds", "key", "traceback",
}  # fmt: skip


@dataclass(frozen=True)
class Metric:
    """A number that a command writes; `key` is the regular expression of `stdout`."""

    name: str
    kind: Literal["json", "jsonl", "stdout"]
    file: str
    key: str

    def read(self, folder: Path) -> float:
        """The number in the folder of a run; `UserError` says what was found in its place."""
        path = folder / self.file
        try:
            text = path.read_text(encoding="utf-8", errors="replace")
        except OSError as error:
            is_missing = isinstance(error, FileNotFoundError)
            what = "the command wrote no such file" if is_missing else error.strerror
            there = sorted(each.name for each in folder.iterdir()) if is_missing else ()
            has = f"; its folder has {', '.join(there)}" if there else ""
            raise UserError(f"metric {self.name}: {path}: {what}{has}") from None
        value = self._in_output(text, path) if self.kind == "stdout" else self._in_json(text, path)
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise UserError(
                f"metric {self.name}: {path}: {self.key} is {_kind(value)}: must be a number (nan "
                "if the training diverged)"
            )
        try:
            return float(value)
        except OverflowError:  # an integer of hundreds of digits
            return float("inf")

    def _in_output(self, text: str, path: Path) -> float:
        if not text.strip():
            raise UserError(f"metric {self.name}: {path}: the command printed nothing")
        matches = re.findall(self.key, text, re.MULTILINE)
        if not matches:
            last = one_line(text.strip().splitlines()[-1])
            raise UserError(
                f"metric {self.name}: {path}: no match of '{self.key}' in what the command "
                f"printed; its last line is {last}"
            )
        try:
            return float(matches[-1])
        except ValueError:
            raise UserError(
                f"metric {self.name}: {path}: the last match of '{self.key}' is "
                f"{one_line(matches[-1])}: must be a number"
            ) from None

    def _in_json(self, text: str, path: Path) -> Any:
        where = f"metric {self.name}: {path}"
        if not text.strip():
            raise UserError(f"{where}: is empty")
        lines = text.splitlines() if self.kind == "jsonl" else [text]
        keys: dict[str, None] = {}
        for number, line in reversed(list(enumerate(lines, 1))):
            if not line.strip():
                continue
            try:
                content = json.loads(line)
            except ValueError as error:
                place = f", line {number}" if self.kind == "jsonl" else ""
                raise UserError(f"{where}{place}: is not JSON ({error})") from None
            if not isinstance(content, dict):
                raise UserError(f"{where}: holds {_kind(content)}: must be an object with keys")
            try:
                return _looked_up(content, self.key)
            except KeyError:
                keys |= dict.fromkeys(content)
        raise UserError(f"{where}: has no key '{self.key}'; it has {', '.join(keys) or 'none'}")


def metrics_of(given: str | Sequence[str]) -> tuple[Metric, ...]:
    """The metrics, read from their specifications: one text, or several.

    >>> [metric.key for metric in metrics_of(["val_loss=json:m.json", "jsonl:log.jsonl:acc"])]
    ['val_loss', 'acc']
    """
    texts = [given] if isinstance(given, str) else list(given)
    metrics = tuple(map(_metric, texts))
    if not metrics:
        raise InputError(f"no metric: say where the command writes one, as {_VALID}")
    names = [metric.name for metric in metrics]
    for name in names:
        if names.count(name) > 1:
            raise InputError(f"metric '{name}': is given {names.count(name)} times")
    return metrics


def _metric(text: str) -> Metric:
    match = _SPEC.fullmatch(text.strip())
    if match is None:
        raise InputError(f"metric = {one_line(text)}: must be {_VALID}")
    name, kind, rest = match[1], match[2], match[3]
    file, key = STDOUT, rest
    if kind != "stdout":
        file, _, key = rest.rpartition(":") if ":" in rest else (rest, "", name or "")
        place = PurePosixPath(file)
        if not file or place.is_absolute() or ".." in place.parts:
            raise InputError(
                f"metric = {one_line(text)}: FILE must be in the folder of the run, where the "
                "command works, as metrics.json"
            )
        if not key:
            raise InputError(f"metric = {one_line(text)}: has no key; must be {_VALID}")
        name = name or key
    if not name or not re.fullmatch(r"\w[\w./@-]*", name):
        raise InputError(f"metric = {one_line(text)}: needs a name; must be {_VALID}")
    if name in _TAKEN:
        raise InputError(
            f"metric = {one_line(text)}: '{name}' is another column of the table of runs; name it "
            f"differently, as val_{name}={kind}:{f'{file}:{key}' if kind != 'stdout' else key}"
        )
    if kind == "stdout":
        _check_expression(text, key)
    return Metric(name, cast(Literal["json", "jsonl", "stdout"], kind), file, key)


def _check_expression(text: str, expression: str) -> None:
    try:
        groups = re.compile(expression).groups
    except re.error as error:
        raise InputError(
            f"metric = {one_line(text)}: '{expression}' is not a regular expression ({error})"
        ) from None
    if groups != 1:
        raise InputError(
            f"metric = {one_line(text)}: '{expression}' has {groups} groups: must have one, "
            r"around the number, as val_loss (\S+)"
        )


def _looked_up(content: dict[str, Any], key: str) -> Any:
    """The value of a key, or of a path of keys such as `eval.loss`."""
    if key in content:
        return content[key]
    first, _, rest = key.partition(".")
    inner = content[first]
    if rest and isinstance(inner, dict):
        return _looked_up(inner, rest)
    raise KeyError(key)


def _kind(value: Any) -> str:
    if isinstance(value, str):
        return f"the text {one_line(value)}"
    kinds = {list: "a list", dict: "an object", bool: "true or false", type(None): "null"}
    return kinds.get(type(value), "a number")
