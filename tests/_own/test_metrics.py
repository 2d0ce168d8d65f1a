"""Where a command writes its metrics: what is read, and what is said of everything else."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from sgdphase._own.metrics import STDOUT, metrics_of
from sgdphase.errors import InputError, UserError


def read(specification: str, tmp_path: Path, name: str, content: str) -> float:
    (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / name).write_text(content)
    (metric,) = metrics_of(specification)
    return metric.read(tmp_path)


@pytest.mark.parametrize(
    ("specification", "file", "content", "value"),
    [
        ("a=json:m.json", "m.json", '{"a": 0.5}', 0.5),
        ("a=json:m.json:b", "m.json", '{"a": 0.5, "b": 2}', 2.0),
        ("json:m.json:b", "m.json", '{"b": 1e-3}', 1e-3),
        ("a=json:run/m.json:eval.loss", "run/m.json", '{"eval": {"loss": 3}}', 3.0),
        ("a=json:m.json:eval.loss", "m.json", '{"eval.loss": 4, "eval": {"loss": 3}}', 4.0),
        ("a=json:m.json", "m.json", '{"a": -Infinity}', -math.inf),
        ("a=json:m.json", "m.json", f'{{"a": {"9" * 400}}}', math.inf),
        ("a=jsonl:l.jsonl:v", "l.jsonl", '{"v": 1}\n{"v": 2}\n{"t": 3}\n\n', 2.0),
        (r"a=stdout:v=(\S+)", STDOUT, "v=1\rv=2 v=3\nend", 3.0),
        (r"a=stdout:^v (.*)$", STDOUT, "v 1\nv nan", math.nan),
        (r"a=stdout:(?:x|y): (\S+)", STDOUT, "x: 1\ny: 1e5", 1e5),
    ],
)
def test_the_number_is_read(
    specification: str, file: str, content: str, value: float, tmp_path: Path
) -> None:
    assert read(specification, tmp_path, file, content) == pytest.approx(value, nan_ok=True, rel=0)


@pytest.mark.parametrize(
    ("specification", "file", "content", "what"),
    [
        ("a=json:m.json", "other.json", "{}", r"m\.json: the command wrote no such file.*other"),
        ("a=json:m.json", "m.json", " ", r"m\.json: is empty"),
        ("a=json:m.json", "m.json", '{"a": 1', r"m\.json: is not JSON \("),
        ("a=json:m.json", "m.json", "[1]", "holds a list: must be an object"),
        ("a=json:m.json", "m.json", '{"b": 1, "c": 2}', "has no key 'a'; it has b, c"),
        ("a=json:m.json:b.c", "m.json", '{"b": 1}', r"has no key 'b\.c'; it has b"),
        ("a=json:m.json", "m.json", '{"a": "low"}', "a is the text 'low': must be a number"),
        ("a=json:m.json", "m.json", '{"a": null}', "a is null: must be a number"),
        ("a=json:m.json", "m.json", '{"a": true}', "a is true or false: must be a number"),
        ("a=jsonl:l.jsonl", "l.jsonl", '{"a": 1}\n{"a"', "line 2: is not JSON"),
        ("a=jsonl:l.jsonl", "l.jsonl", '{"b": 1}\n{"c": 1}', "has no key 'a'; it has c, b"),
        ("a=stdout:v (.*)", STDOUT, "", "the command printed nothing"),
        ("a=stdout:v (.*)", STDOUT, "x\nlast", "no match of .* its last line is 'last'"),
        ("a=stdout:v (.*)", STDOUT, "v 1\nv 12%", "the last match .* is '12%': must be a number"),
    ],
)
def test_anything_else_is_named(
    specification: str, file: str, content: str, what: str, tmp_path: Path
) -> None:
    with pytest.raises(UserError, match=what) as error:
        read(specification, tmp_path, file, content)
    assert str(tmp_path) in str(error.value) and "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("given", "what"),
    [
        ([], "no metric: say where"),
        (["val_loss"], "must be NAME=json:FILE:KEY"),
        (["a=stdout:x\n(.*)"], "must be NAME=json:FILE:KEY"),
        (["a=yaml:m.yaml"], "must be NAME=json:FILE:KEY"),
        (["a=json:/tmp/m.json"], "FILE must be in the folder of the run"),
        (["a=json:../m.json"], "FILE must be in the folder of the run"),
        (["json:m.json"], "has no key"),
        (["stdout:v (.*)"], "needs a name"),
        (["a b=json:m.json"], "needs a name"),
        (["lr=json:m.json"], "'lr' is another column"),
        (["loss=json:m.json"], "name it differently, as val_loss=json:m.json:loss"),
        (["a=stdout:v .*"], "has 0 groups: must have one"),
        (["a=stdout:(v) (.*)"], "has 2 groups: must have one"),
        (["a=stdout:v (.*"], "is not a regular expression"),
        (["a=json:m.json", "a=json:n.json"], "'a': is given 2 times"),
    ],
)
def test_a_bad_specification_is_refused(given: list[str], what: str) -> None:
    with pytest.raises(InputError, match=what):
        metrics_of(given)
