"""What each command prints with `--json` is what docs/schemas says: its keys, no others."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator as Validator
from typer.main import get_command

from sgdphase import cli

ROOT = Path(__file__).parents[2]
SCHEMA = json.loads((ROOT / "docs/schemas/sgdphase.schema.json").read_text())
TRAIN = """
def train(lr, batch, epochs, seed):
    p = lr * epochs / batch * (1 + 0.002 * ((7 * seed + batch) % 5))
    return {"test_error": 0.1 / (1 + p), "train_loss": 1 / (1 + p), "steps": 640 * epochs // batch}
"""
FITTED = """
def train(lr, batch, train_size, seed):
    return max(lr / 16, 2.0**-4 + train_size**0.5 / 4 * lr / batch) * (1 + 0.1 * (seed % 3))
"""
GRID = "sweep perceptron --train-size 64 --dim 4 --lr 1..8 --batch 1,4,16 --store new.sqlite"
ASKED = "--lr 8 --batch 8 --train-sizes 256,1024 --workers 0"
# The entry of the schema, and a command.
COMMANDS = [
    ("diagnose", "diagnose mine.py --lr 0.5 --batch 8 --epochs 10 --batches 16 --workers 0"),
    ("diagnose-until-fitted", f"diagnose law.py --until fitted {ASKED}"),
    ("equivalents", "equivalents table.csv --where width=64 --value loss"),
    ("equivalents", "equivalents table.csv --by width --value loss"),
    ("rule", "rule table.csv --by width --value loss --growth width"),
    ("steps", "steps table.csv --by width --growth width"),
    ("train", "train perceptron --train-size 64 --dim 4 --lr 1 --batch 4 --seeds 2"),
    ("sweep", f"{GRID} --workers 0"),
    ("sweep-dry-run", f"{GRID} --dry-run"),
    ("runs", "runs runs.sqlite"),
    ("diagram", "diagram runs.sqlite"),
    ("diagram", "diagram table.csv --where width=64 --value loss"),
    ("figure", "figure figS9a --scale quick --workers 0"),
    ("figure-list", "figure --list"),
    ("claims", f"claims {ROOT / 'docs/gallery'}"),
    ("theory-averages", "theory averages --lam 1 --r 1"),
    ("theory-constants", "theory constants --chi 1"),
    ("theory-online", "theory online --time 1,10"),
    ("theory-scales", "theory scales"),
    ("data", "data"),
]


def strict(schema: Any) -> Any:
    """The schema, where an object may have the keys that it names alone."""
    if isinstance(schema, list):
        return [strict(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    closed = {"additionalProperties": False} if isinstance(schema.get("properties"), dict) else {}
    return closed | {name: strict(each) for name, each in schema.items()}


def faults(entry: str, value: Any) -> list[str]:
    schema = {"$ref": f"#/$defs/{entry}", "$defs": strict(SCHEMA["$defs"])}
    return [f"{error.json_path}: {error.message}" for error in Validator(schema).iter_errors(value)]


@pytest.fixture
def files(tmp_path: Path, sgdphase: Any) -> None:
    (tmp_path / "mine.py").write_text(TRAIN)
    (tmp_path / "law.py").write_text(FITTED)
    rows = ["lr,batch,loss,steps,width"]
    for width in (64, 128, 256):
        for batch in (16, 32, 64, 128, 256):
            for lr in (0.02 * 2.0**k for k in range(7)):
                far = math.log(lr / 0.02 / batch**0.5) ** 2 + math.log(batch / width) ** 2
                rows.append(f"{lr},{batch},{1 + far / 10},{1000 * width / batch + 10},{width}")
    (tmp_path / "table.csv").write_text("\n".join(rows))


@pytest.mark.parametrize(("entry", "line"), COMMANDS, ids=[line[:40] for _, line in COMMANDS])
def test_output_is_what_the_schema_says(entry: str, line: str, files: None, sgdphase: Any) -> None:
    if "runs.sqlite" in line:
        sgdphase(*GRID.replace("new.", "runs.").split(), "--workers", "0")
    if line.startswith("diagnose"):  # it runs the user's code, in a process of its own
        call = [sys.executable, "-c", "from sgdphase.cli import main; main()", *line.split()]
        done = subprocess.run([*call, "--json"], capture_output=True, text=True, timeout=120)
        code, out, err = done.returncode, done.stdout, done.stderr
    else:
        code, out, err = sgdphase(*line.split(), "--json")
    assert code == 0, err
    assert not faults(entry, json.loads(out))


def with_json(command: Any, *names: str) -> Iterator[tuple[str, ...]]:
    if any("--json" in option.opts for option in command.params):
        yield names
    for name, inner in getattr(command, "commands", {}).items():
        yield from with_json(inner, *names, name)


def test_every_command_with_json_is_tried() -> None:
    tried = {tuple(line.split()[:2]) for _, line in COMMANDS}
    tops = {names[0] for names in tried}
    there = set(with_json(get_command(cli.build())))
    assert {names[0] for names in there} == tops
    assert {names for names in there if names[0] == "theory"} == {
        names for names in tried if names[0] == "theory"
    }


def test_the_check_notices_a_key_more_or_less() -> None:
    assert faults("estimate", {"value": 1, "low": 0, "high": None}) == []
    assert faults("estimate", {"value": 1, "low": 0})
    assert faults("estimate", {"value": 1, "low": 0, "high": 2, "more": 1})
    Validator.check_schema(SCHEMA)
