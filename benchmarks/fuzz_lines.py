"""Command lines for `fuzz.py`, drawn from the tree of commands and from what found faults."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random
from struct import unpack
from typing import Any

from fuzz_files import HERE
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
COMMANDS = (
    "true {lr} {batch}", "nosuch {lr} {batch}", "true", "a {lr} | b {batch} > c && d", "{lr",
    "'{lr} {batch}", "true {lr} {batch} {nope}", "true {lr.real} {batch[0]}",
    "true {lr:d} {batch!r}", "",
)  # fmt: skip
# Values that fit the files of `make_files`, by the name of an option and of what it takes.
FIT = {
    "COLUMN lr": ["lr"], "COLUMN batch": ["batch"], "COLUMN value": ["val_loss", "steps"],
    "COLUMN seed": ["seed"], "COLUMN epochs": ["epochs"], "COLUMN steps": ["steps", "val_loss"],
    "COLUMN growth": ["model"], "COLUMNS by": ["model", "epochs", ""],
    "where": ["lr=0.05", "model=1", "epochs=3", "seed=0", "momentum=0"],
    "batches": ["64,128", "32..512", "64"], "betas": ["0.9,0.999"], "budget": ["90s", "10m", "2h"],
    "chi": ["1"], "data": ["teacher", "mnist-parity", "cifar-animals", "points.npz", "images.npz"],
    "depends": ["train.py", "folder,train.py"], "depth": ["1", "2"], "device": ["cpu"],
    "dim": ["128"], "dask": [HERE], "epochs": ["40", "1"], "factor": ["2", "1.5"],
    "folder": ["docs/gallery", "differs"],
    "gpus": ["0", "0,1"], "lam": ["10", "0"], "names": ["fig3", "fig3-inset", "all"],
    "margin": ["2^-7"], "max_samples": ["1e9"], "max_steps": ["1e6"], "max_time": ["1e4"],
    "metric": ["val_loss=json:m.json", "val_loss=stdout:loss (.*)", "train_loss=jsonl:l.jsonl:k"],
    "model": ["perceptron", "fc"], "momentum": ["0", "0.9"], "observable": ["w1", "alignment"],
    "out": ["report", "figures"], "command": ["python train.py {lr} {batch} {seed} {epochs}"],
    "own": ["runs.sqlite", "runs.csv", "diagnosis.json", "fc.sqlite"],
    "r": ["0.1", "0"], "scale": ["quick", "laptop", "paper"], "seeds": ["1", "2"],
    "data_dir": [".", "folder"], "topic": ["ranges", "regimes", "store"],
    "tables": ["docs/gallery/runs"], "test_size": ["64", "1024"],
    "time": ["1,1e3", "2^0..2^20"], "timeout": ["90s"], "tolerance": ["1%", "0.1"],
    "train_size": ["8192", "2^13"], "train_sizes": ["64,128"], "warmup": ["0.1"],
    "weight_decay": ["0", "0.01"], "width": ["8", "16"], "workers": ["0", "1", "2"],
    "your_batch": ["32", "64"], "your_lr": ["0.05"], "retry": ["failed", "failed,diverged"],
}  # fmt: skip
# Words of examples, as they are called in the files.
CALLED = {"learning_rate": "lr", "bs": "batch", "steps_to_target": "steps", "fig1a": "fig3-inset"}
# Files made by `make_files` that are sound, by their endings; then odd ones, and places of none.
SOUND = {
    ".sqlite": ["runs.sqlite", "fc.sqlite", "mixed.sqlite", "failed.sqlite", "new.sqlite"],
    ".csv": ["runs.csv", "exported.csv", "runs.tsv", "runs.json", "runs.jsonl", "runs.sqlite"],
    ".py": ["my_training.py", "train.py"],
}
PLACES = (
    *SOUND[".sqlite"], *SOUND[".csv"], *SOUND[".py"], "foreign.sqlite", "forged.sqlite",
    "cut.sqlite", "used.sqlite", "empty.sqlite", "odd.json", "deep.json", "utf16.csv", "latin.csv",
    "binary.csv", "empty.csv", "short.csv", "huge.csv", "nan.csv", "markup.csv", "points.npz",
    "images.npz", "encrypted.npz", "header.npz", "pickle.npz", "huge.npz", "nan.npz",
    "diagnosis.json", "broken.py", "folder", "folder/new.png", "docs/gallery",
    "docs/gallery/runs", "differs", "no-runs", "a.claims.json", "claims", "odd-claims",
    "link.sqlite", "dangling.sqlite", "loop.sqlite", "link.csv", "file.txt/x", "file.txt",
    "gone/x", "gone", "/proc/x", "/proc/version", "/dev/null", "new.png", "new.html", "new.csv",
    "new.nc", "new.parquet", "new.svg", "[/red].sqlite", "[/red].csv", "\udcff.csv",
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


def _fitting(option: Any) -> list[str]:
    """Values that an option takes: from `FIT`, its default, its type, its help and the table."""
    parameter, metavar = BY_NAME.get(option.name), option.metavar or ""
    said = f"{metavar} {getattr(option, 'help', '') or ''}"
    if option.type_descriptor.annotation is Path and option.name not in ("own", "folder", "tables"):
        endings = re.findall(r"\.\w+", said) or ([".sqlite"] if "store" in option.name else [])
        places = [place for each in endings for place in SOUND.get(each, [f"new{each}"])]
        if places:
            return places
    if isinstance(option.default, Path):
        return [str(option.default)]
    for name in (f"{metavar} {option.name}", option.name):
        if name in FIT:
            return FIT[name]
    if parameter and parameter.choices:
        return [*parameter.choices]
    if option.type_descriptor.parameter_info.parser is not None:
        return ["1", "2", "4", "0.5", "16"] + ["1,2", "1..4"] * ("RANGE" in metavar)
    return re.findall(r"[\w.^=:*/{}-]+(?<![.:])", said) or [*TEXTS]


def _odd(option: Any, rng: Random) -> str:
    """A value that found faults before, of the kind that the option takes or of another."""
    kind = option.type_descriptor
    if rng.random() < 0.2:
        value: str = rng.choice((*NUMBERS, *RANGES, *TEXTS, *PLACES))
    elif rng.random() < 0.1:
        value = "".join(chr(rng.choice((rng.randrange(1, 256), rng.randrange(0x3000)))) for _ in
                        range(rng.randrange(8)))  # fmt: skip
    elif kind.parameter_info.parser is not None:
        [bits] = unpack("d", rng.randbytes(8))
        value = rng.choice((rng.choice(NUMBERS), rng.choice(RANGES), repr(bits)))
    else:
        own = COMMANDS if option.name == "command" else TEXTS
        value = rng.choice(PLACES if kind.annotation is Path else own)
    return value.replace("\0", "")  # which no shell can pass


@dataclass
class Word:
    """An option or an argument of a line, with the value that stands there."""

    option: Any
    flag: str = ""
    value: str = ""


def line(command: Command, rng: Random) -> list[str]:
    """An example of the help with files that are right for it, more options, and a few odd values.

    Or what is required alone. Most lines have at most one odd value: more hide each other.
    """
    words = (
        [*_parsed(command, rng.choice(command.examples), rng)]
        if command.examples and rng.random() < 0.9
        else [_word(each, rng) for each in (*command.arguments, *command.options)
              if each.required or (not each.opts[0].startswith("-") and rng.random() < 0.5)]
    )  # fmt: skip
    for _ in range(rng.choice((0, 0, 1, 1, 2, 3)) if command.options else 0):
        option = rng.choice(command.options)
        # Given twice it is refused, or the last counts.
        if not any(word.option is option for word in words) or rng.random() < 0.1:
            words.append(_word(option, rng))
    values = [word for word in words if not (word.flag and word.option.is_flag)]
    for _ in range(rng.choice((0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 5)) if values else 0):
        word = rng.choice(values)
        word.value = _odd(word.option, rng)
    if words and rng.random() < 0.03:
        words.pop(rng.randrange(len(words)))
    return [part for word in words for part in _written(word, rng)]


def _word(option: Any, rng: Random) -> Word:
    flags = [each for each in (*option.opts, *option.secondary_opts) if each.startswith("-")]
    flag = rng.choice(flags) if flags else ""
    if flag and option.is_flag:
        return Word(option, flag)
    return Word(option, flag, rng.choice(_fitting(option)))


def _parsed(command: Command, example: tuple[str, ...], rng: Random) -> Iterator[Word]:
    """The words of an example, with the options that they belong to; some files are others."""
    arguments, given = list(command.arguments), iter(example)
    for word in given:
        option = next((each for each in command.options if word in each.opts), None)
        if option is not None and option.is_flag:
            yield Word(option, word)
            continue
        flag = word if option is not None else ""
        value = next(given) if option is not None else word
        option = option or (arguments.pop(0) if len(arguments) > 1 else arguments[0])
        if option.name == "folder":
            value = rng.choice(FIT["folder"])
        elif option.type_descriptor.annotation is Path and rng.random() < 0.5:
            value = rng.choice(SOUND.get(Path(value).suffix, [value]))
        yield Word(option, flag, CALLED.get(value, value))


def _written(word: Word, rng: Random) -> list[str]:
    if not word.flag:
        return [word.value]
    if word.option.is_flag:
        return [word.flag]
    return [f"{word.flag}={word.value}"] if rng.random() < 0.5 else [word.flag, word.value]
