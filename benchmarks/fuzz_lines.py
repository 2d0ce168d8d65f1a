"""Command lines for `fuzz.py`, drawn from the tree of commands and from what found faults."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hypothesis import strategies as st
from typer.main import get_command

from sgdphase import cli
from sgdphase._parameters import BY_NAME

# What found faults before: extreme and denormal numbers, ranges that explode, counts beyond memory.
NUMBERS = (
    "0", "-0", "1", "-1", "3", "0.5", "2^-7", "1/3", "1/0", "0/0", "1e3", "64", "2^13", "2^53",
    "2^60",
    "2^62", "2^63", "2^64", "1e12", "1e100", "1e-100", "1e308", "1e309", "-1e308", "1e-308",
    "5e-324",
    "1e-320", "2^-1074", "2^1023", "2^1024", "10^400", "-2^0.5", "nan", "inf", "-inf", "0.1e", "",
    " ",
    "0x10", "1_000", "\u0663", "1,5", "1e", "-0.99", "-0.999999999", "-1.0000001", "100", "100.5",
    "0.999999999999999999", "1%", "0.9,0.999",
)  # fmt: skip
RANGES = (
    "1..64", "2^-4..2^4*4", "1..4", "1,2", "1,1", "2^-1000..2^1000", "2^-1074..1", "1..2*1.0001",
    "1..1e308*1.01", "1..1.0000001*1.0000000001", "0..1", "2..1", "1..", "..1", "1..2..3", "1..2*0",
    "1..2*1", "1..2*-2", "1..inf", "nan..nan", "1e-300..1e300", "1,,2", ",", "1..2*nan",
)  # fmt: skip
LONG = "a" * 300
TEXTS = (
    "", " ", "x", "[/red]", "[bold]", "[link=a]", ":smile:", "a b", "$HOME", "%s", "{lr}", "{}",
    "{0}",
    "{", "--", "-", "..", ".", "/", "~", "*", "\u00e9\u4e2d", "\U0001f600", "\udcff", "\x1b[31m",
    "a\nb",
    "a\tb", "'", '"', "\\", LONG, "=", "a=b", "a=1", "model=fc", "lr=1", "status=fitted", "chi=nan",
    "val_loss", "alignment", "w1", "status", "key", "seed", "lr", "batch", "all", "fig2", "fitted",
    "failed", "hpu", "cuda:7", "cpu", "meta", "90s", "1e9h", "-1s", "0s", "nan", "0", "1,2",
)  # fmt: skip
COMMAND = "python train.py --lr {lr} --bs {batch} --seed {seed} --epochs {epochs}"
COMMANDS = (
    COMMAND, "true {lr} {batch}", "nosuch {lr} {batch}", "true", "a {lr} | b {batch} > c && d",
    "{lr",
    "'{lr} {batch}", "true {lr} {batch} {nope}", "true {lr.real} {batch[0]}",
    "true {lr:d} {batch!r}", "",
)  # fmt: skip
# Columns that examples name, as they are called in the files.
COLUMNS = {"learning_rate": "lr", "bs": "batch", "steps_to_target": "val_loss", "model": "seed"}
# Odd files, made by `make_files`; and places that are none.
PLACES = (
    "runs.sqlite", "fc.sqlite", "mixed.sqlite", "failed.sqlite", "foreign.sqlite", "forged.sqlite",
    "cut.sqlite", "used.sqlite", "empty.sqlite", "new.sqlite", "runs.csv", "runs.json",
    "runs.jsonl",
    "runs.tsv", "odd.json", "deep.json", "utf16.csv", "latin.csv", "binary.csv", "empty.csv",
    "short.csv",
    "huge.csv", "nan.csv", "markup.csv", "points.npz", "images.npz", "encrypted.npz",
    "header.npz", "pickle.npz",
    "huge.npz", "nan.npz", "diagnosis.json", "train.py", "broken.py", "folder", "folder/new.png",
    "a.claims.json", "claims", "odd-claims", "link.sqlite", "dangling.sqlite", "loop.sqlite",
    "link.csv",
    "file.txt/x", "file.txt", "gone/x", "gone", "/proc/x", "/proc/version", "/dev/null", "new.png",
    "new.html", "new.csv", "new.nc", "new.parquet", "new.svg", "[/red].sqlite", "[/red].csv",
    "\udcff.csv",
    f"{LONG}.csv", f"{LONG}.sqlite", f"{LONG}.png", "/", ".", "",
)  # fmt: skip


@dataclass(frozen=True)
class Command:
    """A command with its words, what it takes, and the words of its examples."""

    words: tuple[str, ...]
    options: tuple[Any, ...]
    arguments: tuple[Any, ...]
    examples: tuple[tuple[str, ...], ...]

    @property
    def name(self) -> str:
        return " ".join(self.words)


def commands() -> list[Command]:
    """Every command of the application that does something itself."""

    def walk(command: Any, words: tuple[str, ...]) -> Iterator[Command]:
        inner = getattr(command, "commands", {})
        for name, each in inner.items():
            yield from walk(each, (*words, name))
        if not inner or command.name == "data":
            takes = [each for each in command.params if each.name != "help"]
            yield Command(
                words,
                tuple(each for each in takes if each.param_type_name == "option"),
                tuple(each for each in takes if each.param_type_name == "argument"),
                tuple(_examples(command.help or "", words)),
            )

    return [*walk(get_command(cli.build()), ())]


def _examples(text: str, words: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    for part in re.findall(r"Example: sgdphase (.*?)(?:\n\n|\Z)", text, re.DOTALL):
        found = shlex.split(" ".join(part.split()))
        if tuple(found[: len(words)]) == words:
            yield tuple(found[len(words) :])


def _good(option: Any) -> list[str]:
    """Values of the kind that an option takes: from its type, its help and the table."""
    kind, parameter = option.type_descriptor, BY_NAME.get(option.name)
    said = f"{option.metavar or ''} {getattr(option, 'help', '') or ''}"
    if kind.annotation is Path:
        endings = [*re.findall(r"\.\w+", said), *([".sqlite"] if "tore" in said else [])]
        return [each for each in PLACES if each.endswith(tuple(endings))] or [*PLACES]
    if kind.parameter_info.parser is not None:
        return ["1", "2", "4", "0.5", "16", "1,2", "1..4", "64", "8"]
    choices = list(parameter.choices) if parameter else []
    if option.name == "data":
        choices += ["teacher"] * 5 + ["images.npz"] * 5
        choices += ["mnist-parity", *(place for place in PLACES if place.endswith(".npz"))]
    if option.name == "command":
        return [*COMMANDS]
    if "COLUMN" in (option.metavar or "") or option.name == "observable":
        return ["lr", "batch", "val_loss", "seed", "alignment", "lr=1", "batch=4", "val_loss=1"]
    # What the help writes out: `val_loss=json:FILE:KEY`, `90s`, `cuda`.
    written = [word.strip(".:") for word in re.findall(r"[\w.^=:*/{}-]+", said)]
    return (
        choices or [word for word in written if re.search(r"\d|=|\.", word)] or written or [*TEXTS]
    )


_ODD = {
    "path": st.sampled_from(PLACES),
    "number": st.sampled_from(NUMBERS) | st.sampled_from(RANGES) | st.floats().map(repr),
    "text": st.sampled_from(TEXTS),
    "other": st.sampled_from((*NUMBERS, *RANGES, *TEXTS, *PLACES)) | st.text(max_size=8),
}


def _value(option: Any, odd: int, draw: Callable[..., Any]) -> str:
    """A value of an option: an odd one in `odd` of 10 cases."""
    if draw(st.integers(0, 9)) >= odd:
        return str(draw(st.sampled_from(_good(option))))
    kind = option.type_descriptor
    own = "path" if kind.annotation is Path else "text"
    own = "number" if kind.parameter_info.parser is not None else own
    value = draw(_ODD[own if draw(st.integers(0, 4)) else "other"])
    return str(value).replace("\0", "")  # which no shell can pass


@st.composite
def lines(draw: Callable[..., Any], command: Command) -> list[str]:
    """A command line: an example of the help, or what is required, and more options."""
    odd = draw(st.sampled_from((0, 0, 2, 6)))
    words: list[str] = []
    if command.examples and draw(st.booleans()):
        words = list(draw(st.sampled_from(command.examples)))
        for n, word in enumerate(words):
            if re.fullmatch(r"[\w-]+\.\w+|figures|report", word):
                ending = Path(word).suffix
                same = [place for place in PLACES if Path(place).suffix == ending] or PLACES
                words[n] = draw(st.sampled_from(same if draw(st.integers(0, 9)) >= odd else PLACES))
            words[n] = COLUMNS.get(word, words[n])
    else:
        for each in command.arguments:
            count = draw(st.sampled_from((1, 1, 1, 1, 1, 1, 1, 2, 0)))
            words += [_value(each, odd, draw) for _ in range(count)]
        for each in command.options:
            if each.required and draw(st.integers(0, 9)):
                words += _written(each, odd, draw)
    data = [each for each in command.options if each.name == "data"]
    for each in data if draw(st.integers(0, 9)) else ():  # images are files, which are not here
        words += _written(each, odd, draw)
    if command.options:
        for _ in range(draw(st.sampled_from((0, 0, 1, 1, 2, 3, 5)))):
            words += _written(draw(st.sampled_from(command.options)), odd, draw)
    return words


def _written(option: Any, odd: int, draw: Callable[..., Any]) -> list[str]:
    flag = draw(st.sampled_from([*option.opts, *option.secondary_opts]))
    if option.is_flag:
        return [flag]
    value = _value(option, odd, draw)
    return [f"{flag}={value}"] if draw(st.booleans()) else [flag, value]
