"""Trainings by a command of the user: `python train.py --lr {lr} --batch-size {batch}`.

Each run works in a folder of its own. Words of the command that name files or folders of the
directory where the user started are made absolute, so that `python train.py` finds its file.
"""

from __future__ import annotations

import hashlib
import math
import os
import re
import shlex
import shutil
import signal
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any, ClassVar

from sgdphase._own.function import finished
from sgdphase._own.metrics import STDOUT, Metric, metrics_of
from sgdphase._own.process import run_in_group
from sgdphase._own.template import PLACEHOLDERS, check_template, is_path, placed, placeholders_of
from sgdphase._parameters import UNKNOWN_SIZE
from sgdphase._records import Outcome, Training
from sgdphase.errors import InputError, UserError, listed, make_folder
from sgdphase.problems import Dataset
from sgdphase.stats import duration, seconds_of

STDERR = "stderr.txt"
# Left out of folders that a command depends on: caches, hidden files, stores and their folders.
_NO_CONTENT = re.compile(r"\..*|__pycache__|.*\.pyc|.*\.sqlite(-.*)?")
_WHERE = (
    "; it works in a folder of its own: in the command write files of your directory as "
    "{start}/...; if your script names them itself, give --shell and 'cd {start} && ...'"
)
# The end of a log in a message.
_LINES, _LETTERS = 4, 400
_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS",
            "NUMBA_NUM_THREADS")  # fmt: skip

# Words that mean something to a shell alone, and commands that it has itself.
_OF_A_SHELL = ("|", "||", "&&", "&", ";", "<", ">", ">>", "2>", "2>&1")
_BUILTIN = ("cd", "export", "source", ".", "set", "ulimit")


@dataclass(frozen=True)
class UserCommand:
    """A command of the user, known by its `digest`: of its text, its metrics, and its files.

    `metrics` are lines; `depends` lists files and folders, one per line, as they are written from
    `start`, the directory where the user typed the command. `timeout` is in seconds.
    """

    kind: ClassVar[str] = "command"
    # What a plan assumes where nothing is given.
    assumes: ClassVar[Mapping[str, Any]] = {"model": "command", "train_size": UNKNOWN_SIZE}
    # It has no data of its own, in contrast to a model.
    points: ClassVar[int] = 0

    command: str = field(compare=False)
    metrics: str = field(compare=False)
    digest: str
    shell: bool = field(default=False, compare=False)
    start: str = field(default="", compare=False)
    depends: str = field(default="", compare=False)
    timeout: float | None = field(default=None, compare=False)

    def train_set(self, size: int, seed: int) -> Dataset:
        raise InputError(f"{self.name}: a command has its own data")

    test_set = train_set

    def check_sizes(self, train_size: int, test_size: int) -> None:
        """Only the command knows how many points it has."""

    def check_training(self, training: Training) -> None:
        """Raise `InputError` if a placeholder has no value, or a value no placeholder."""
        size = None if training.train_size == UNKNOWN_SIZE else training.train_size
        for name, value in {"epochs": training.epochs, "train_size": size}.items():
            if value is None and name in self.placeholders:
                raise InputError(
                    f"the command has {{{name}}}: give --{name.replace('_', '-')} ({name}=)"
                )
        if training.epochs is not None and "epochs" not in self.placeholders:
            raise InputError(
                f"epochs = {training.epochs}: the command has no {{epochs}}; it would run as long "
                "as always"
            )

    def prepare(self) -> None:
        """Raise `InputError` if the command cannot be run, or is not the one it was."""
        if os.name != "posix":  # pragma: no cover
            raise InputError("commands need Linux, macOS or another POSIX system")
        if _digest(self) != self.digest:
            raise InputError(f"a file that the command depends on has changed: {self._listed()}")
        first, *rest = _words(self)
        if self.shell or "{" in first:
            return
        script = rest[0]
        if re.fullmatch(r"[^-{]*\.(py|sh)", script) and not (Path(self.start) / script).exists():
            raise InputError(f"'{script}': there is no such file in {self.start}")
        program = placed(first, Path(self.start))
        if shutil.which(program) is None:
            is_file = Path(program).is_file()
            raise InputError(
                f"'{first}': is not executable (chmod +x {first}, or put its interpreter first)"
                if is_file
                else f"'{first}': command not found"
                + "; a shell has it: give --shell" * (first in _BUILTIN)
            )

    @property
    def name(self) -> str:
        """The first file that it names, else its program."""
        return Path((_files_named(self) or _words(self))[0]).name

    @property
    def path(self) -> str:
        """Where it runs; other processes can run it, too."""
        return self.start

    @property
    def placeholders(self) -> set[str]:
        return placeholders_of(self.command)

    @property
    def metrics_read(self) -> tuple[Metric, ...]:
        return metrics_of(self.metrics.split("\n"))

    @property
    def notes(self) -> Iterator[str]:
        """Remarks for the user."""
        signs = [] if self.shell else [word for word in _words(self) if word in _OF_A_SHELL]
        if signs:
            yield f"the command has {listed(signs, 'and')}, which only a shell reads: give --shell"
        if "seed" not in self.placeholders:
            yield (
                "the command has no {seed}: runs of the same lr and batch must differ by themselves"
            )
        if not self.depends:
            yield (
                "no file is known that the command depends on: if one changes, runs in the store "
                "are not made again (name files with --depends)"
            )

    def _listed(self) -> str:
        return listed(self.depends.split("\n"), "or")


def command(
    template: str,
    metrics: str | Sequence[str],
    *,
    depends: Sequence[str | Path] = (),
    shell: bool = False,
    timeout: float | str | None = None,
) -> UserCommand:
    r"""A training that is a command line, as a problem for `grid` and for `diagnose`.

    It runs in a folder of its own, next to the store, where its output is kept. A word that has a
    `/` or an ending and names a file or folder of the present directory is made absolute.

    Parameters
    ----------
    template : str
        The command with `{lr}` and `{batch}`, and maybe `{epochs}`, `{seed}`, `{train_size}`,
        `{out}` (the folder of the run) and `{start}` (the present directory). `{{` is a brace.
    metrics : str or sequence of str
        Where it writes its numbers, in the folder of the run: `NAME=json:FILE:KEY`,
        `NAME=jsonl:FILE:KEY` (last line with the key), `NAME=stdout:REGEX` (last match). The
        first one decides.
    depends : sequence of str or Path, default none
        Files and folders, besides the files that the command names: if their content changes, the
        trainings are others, and run again.
    shell : bool, default False
        Whether a shell reads the command, which then writes its files as `{start}/train.py`.
    timeout : float or str, default none
        Seconds, or a time such as "10m", after which a run has failed.

    Examples
    --------
    >>> from sgdphase import grid, train
    >>> toy = command("echo loss {lr} {batch}", metrics=r"val_loss=stdout:loss (\S+)")
    >>> [train(each)["val_loss"] for each in grid(toy, lr=[0.5, 0.25], batch=4)]
    [0.5, 0.25]
    """
    check_template(template)
    specifications = [metrics] if isinstance(metrics, str) else list(metrics)
    metrics_of(specifications)
    start = os.getcwd()
    limit = None if timeout is None else seconds_of(timeout, "timeout")
    bare = UserCommand(template, "\n".join(specifications), "", shell, start, "", limit)
    missing = [str(each) for each in depends if not (Path(start) / each).exists()]
    if missing:
        raise InputError(f"depends = '{missing[0]}': no such file or folder in {start}")
    files = dict.fromkeys([*_files_named(bare), *(os.path.normpath(each) for each in depends)])
    values = vars(bare) | {"depends": "\n".join(files)}
    return UserCommand(**(values | {"digest": _digest(UserCommand(**values))}))


def train(training: Training, *, trajectory: bool = False, folder: Path | None = None) -> Outcome:
    """Run the command in `folder`, emptied first, and read its metrics."""
    problem = training.problem
    if not isinstance(problem, UserCommand):
        raise InputError(f"problem = {problem.kind}: model command wants sgdphase.command(...)")
    problem.check_training(training)
    if folder is None:
        with tempfile.TemporaryDirectory() as temporary:
            return _trained(training, problem, Path(temporary))
    shutil.rmtree(folder, ignore_errors=True)
    make_folder(folder)
    return _trained(training, problem, folder)


def expected_seconds(training: Training) -> float:
    """Unknown before one has run."""
    return math.nan


def _trained(training: Training, problem: UserCommand, folder: Path) -> Outcome:
    words = _filled(training, problem, folder)
    (folder / "command.txt").write_text(f"{shlex.join(words)}\n")
    try:
        code = run_in_group(
            words, folder, environment=_environment(problem), out=folder / STDOUT,
            err=folder / STDERR, seconds=problem.timeout,
        )  # fmt: skip
    except OSError as error:
        raise UserError(f"{words[0]}: cannot be run ({error.strerror or error})") from None
    if code != 0:
        raise UserError(_failure(code, problem, folder))
    if _digest(problem) != problem.digest:
        raise UserError(f"{problem._listed()} changed while the command ran; start again")
    numbers = {metric.name: metric.read(folder) for metric in problem.metrics_read}
    return finished(numbers, problem.name, training)


def _words(problem: UserCommand) -> list[str]:
    # Inside quotes the user's shell leaves a continued line as it is, and `shlex` makes it a word.
    return shlex.split(problem.command.replace("\\\n", ""))


def _files_named(problem: UserCommand) -> list[str]:
    """The files that a command names, as it does; a program without an ending is none."""
    start, files = Path(problem.start), []
    for number, word in enumerate(_words(problem)):
        path = word.replace("{start}/", "").rpartition("=")[2]
        has_name = number > 0 or re.search(r"\.[a-zA-Z]+$", path)
        if has_name and is_path(path) and "{" not in path and (start / path).is_file():
            files.append(os.path.normpath(path))
    return files


def _filled(training: Training, problem: UserCommand, folder: Path) -> list[str]:
    """The words of one run."""
    values = {name: getattr(training, name, None) for name in PLACEHOLDERS}
    places = {"out": str(folder.absolute()), "start": problem.start}
    if problem.shell:
        quoted = {name: shlex.quote(place) for name, place in places.items()}
        return ["/bin/sh", "-c", problem.command.format(**values | quoted)]
    filled = (word.format(**values | places) for word in _words(problem))
    return [placed(word, Path(problem.start)) for word in filled]


def _environment(problem: UserCommand) -> dict[str, str]:
    """As where the user typed it: its modules are found, and it has its share of the cores."""
    environment = dict(os.environ)
    # A log must not end before the last lines that a killed script printed.
    environment["PYTHONUNBUFFERED"] = "1"
    paths = [*filter(None, [environment.get("PYTHONPATH")]), problem.start]
    environment["PYTHONPATH"] = os.pathsep.join(paths)
    if threads := environment.pop("SGDPHASE_THREADS", None):
        environment |= dict.fromkeys(_THREADS, threads)
    return environment


def _digest(problem: UserCommand) -> str:
    """Of the text and of the content of all files; their names count, not where they lie."""
    digest = hashlib.sha256()
    for text in (problem.command, problem.metrics, str(problem.shell)):
        digest.update(f"{len(text)} {text}".encode())
    for path in filter(None, problem.depends.split("\n")):
        for file in _content(Path(problem.start) / path):
            name = os.path.relpath(file, problem.start)
            try:
                stat = file.stat()
                content = _file_digest(file, stat.st_mtime_ns, stat.st_size, stat.st_ino)
            except OSError as error:
                raise InputError(f"{file}: cannot be read ({error.strerror or error})") from None
            digest.update(f"{len(name)} {name} {content}".encode())
    return digest.hexdigest()


# Asked for after every run, and files may be large: read again only if they were written since.
@lru_cache(2**14)
def _file_digest(file: Path, *written: int) -> str:
    with file.open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()


def _content(path: Path) -> Iterator[Path]:
    if not path.is_dir():
        yield path
        return
    for inner in sorted(path.iterdir()):
        if not _NO_CONTENT.fullmatch(inner.name):
            yield from _content(inner)


def _failure(code: int | None, problem: UserCommand, folder: Path) -> str:
    """How a command ended, with the last lines of its log."""
    if code is None:
        how = f"did not end within the time-out of {duration(problem.timeout or 0.0)}"
    elif code < 0:
        name = signal.Signals(-code).name
        how = f"was ended by {name}{' (out of memory?)' if name == 'SIGKILL' else ''}"
    else:
        how = f"ended with exit code {code}"
    for log in (folder / STDERR, folder / STDOUT):
        text = log.read_text(encoding="utf-8", errors="replace").strip()
        if text:
            end = " | ".join(line.strip() for line in text.splitlines()[-_LINES:] if line.strip())
            end = end if len(end) <= _LETTERS else f"...{end[-_LETTERS:]}"
            lost = re.search(r"No such file|not found|No module named", end)
            where = _WHERE if lost else ""
            return f"{problem.name} {how}; {log} ends: {end}{where}"
    return f"{problem.name} {how}, and printed nothing ({folder})"
