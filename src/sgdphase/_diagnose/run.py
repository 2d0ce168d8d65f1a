"""`diagnose`: from what the user brings to the answer."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic
from typing import Any

from sgdphase._diagnose.answer import Diagnosis
from sgdphase._diagnose.batch_search import Point
from sgdphase._diagnose.candidates import Candidates
from sgdphase._diagnose.fitted.answer import FittedDiagnosis
from sgdphase._diagnose.fitted.question import Question
from sgdphase._diagnose.fitted.schedule import given, ladder
from sgdphase._diagnose.question import BatchQuestion
from sgdphase._diagnose.runner import Runner
from sgdphase._own import UserCommand, UserProblem, UserTraining, forget, user_training
from sgdphase._own import command as command_of
from sgdphase._parameters import UNKNOWN_SIZE
from sgdphase._sweep import Store, Workers
from sgdphase._sweep.workers import Kept, workers_of
from sgdphase.diagram._column_names import more_is_better
from sgdphase.errors import InputError, require, require_whole
from sgdphase.stats import seconds_of

# A first guess of lr ~ batch^exponent: by its square root the step of an adaptive optimizer grows.
_EXPONENTS = {"sgd": 1.0} | dict.fromkeys(
    ("adam", "adamw", "nadam", "radam", "adamax", "adagrad", "adadelta", "adafactor", "rmsprop",
     "lamb", "lion"), 0.5,
)  # fmt: skip

Say = Callable[[str], None]


def _to_stderr(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def diagnose(
    model: Any = None,
    data: Any = None,
    *,
    lr: float,
    batch: int,
    epochs: int,
    train: Callable[..., Any] | None = None,
    command: str | UserCommand | None = None,
    metrics: str | Sequence[str] = (),
    test_data: Any = None,
    augment: Callable[..., Any] | None = None,
    loss: str | None = None,
    optimizer: str | None = None,
    momentum: float | None = None,
    betas: tuple[float, float] | None = None,
    weight_decay: float | None = None,
    schedule: str | None = None,
    warmup: float | None = None,
    metric: str | None = None,
    maximize: bool | None = None,
    batches: Sequence[int] | None = None,
    train_size: int | None = None,
    budget: float | str = "10m",
    seeds: int | None = None,
    workers: int | Callable[[], Workers] | None = None,
    gpus: Sequence[int | str] = (),
    store: Store | str | Path | None = None,
    say: Say = _to_stderr,
) -> Diagnosis:
    """Which learning rate to use at another batch, for the training that you really run.

    Trains the model at other batches and learning rates, with several seeds. Gives for each batch
    the learning rate that learns the same, with its metrics, and the batch from which there is
    none.

    Parameters
    ----------
    model : callable, str or Path
        Function that makes a fresh `torch.nn.Module`; or a file that has `model` and `data`, or
        `train`.
    data : callable
        Function that returns `x, y`, or a torch Dataset.
    lr, batch, epochs : float, int, int
        Your learning rate, points per step, and number of epochs; above 0.
    train : callable, default None
        For any other framework: `train(lr, batch, epochs, seed)` that returns a dict of metrics.
    command : str, default None
        A command line with `{lr}`, `{batch}`, `{epochs}` and `{seed}`; or what `sgdphase.command`
        makes of it, with more options.
    metrics : str or sequence of str
        Where the command writes its numbers, as `val_loss=json:metrics.json`; the first decides.
    test_data : callable, default a fifth of the data, held out for each seed
        Function that returns test data, in the form of `data`.
    augment : callable, default None
        Function that changes a batch of inputs in training.
    loss : {"cross-entropy", "hinge", "mse"}, default what fits the labels
    optimizer : {"sgd", "adamw"}, default "sgd"
        Of a command: what it uses, which it is not told.
    momentum, weight_decay : float, default 0
        From 0 to below 1, and at least 0.
    betas : (float, float), default (0.9, 0.999); of adamw
    schedule : {"constant", "cosine", "linear"}, default "constant"; of the learning rate
    warmup : float, default 0
        Fraction of the training, from 0 to below 1.
    metric : str, default "test_error" (in a regression, the mean squared error)
        Decides whether two trainings are the same.
    maximize : bool, default by the name of the metric
        Whether more of the metric is better.
    batches : sequence of int, default from yours on by factors of two; the other batches
    train_size : int, default None
        Training points of a `train` function, if they limit the batch.
    budget : float or str, default "10m"
        Seconds, or a time such as "90s", "10m", "2h".
    seeds : int, default 5
        Per setting, at least 2; by default fewer if the budget is short, more if a verdict is open.
    workers : int or callable, default one process per core
        Processes for a file, or a function that makes workers. Functions run in this process,
        where a training is not stopped at the end of the budget.
    gpus : sequence of int or str, default none
        Each process sees one of them; by default one process per GPU.
    store : Store, str or Path, default None
        The file that keeps the runs; what it has is not run again.
    say : callable, default prints to standard error; takes lines of progress

    Examples
    --------
    >>> def train(lr, batch, epochs, seed):
    ...     progress = lr * epochs / batch
    ...     return {"test_error": 0.05 + 0.1 / (1 + progress), "train_loss": 1 / (1 + progress)}
    >>> answer = diagnose(train=train, lr=0.1, batch=8, epochs=40, batches=[16], seeds=2,
    ...                   say=lambda line: None)
    >>> answer.equivalents[0].lr.value, answer.equivalents[0].verdict
    (0.2, 'the same')
    """
    started = monotonic()
    _check(lr, batch, seeds)
    require_whole("epochs", epochs)
    seconds = seconds_of(budget)
    beta1, beta2 = betas or (None, None)
    told = _command(command, metrics)
    user = _loaded(
        model, data, test_data=test_data, augment=augment, train=train, command=told,
        seconds=seconds, loss=loss, optimizer=optimizer, momentum=momentum,
        weight_decay=weight_decay, schedule=schedule, warmup=warmup, beta1=beta1, beta2=beta2,
    )  # fmt: skip
    if told is not None:
        metric = metric or user.metrics[0]  # the first decides
        told.check_training(
            user.training(lr=lr, batch=batch, epochs=epochs, train_size=train_size or UNKNOWN_SIZE)
        )
    if metric and user.metrics and metric not in user.metrics:
        raise InputError(f"metric = '{metric}': must be one of {', '.join(user.metrics)}")
    if metric and maximize is None:
        more_is_better(metric)  # one that does not tell is refused before anything is trained
    if user.train_size is not None and train_size is not None:
        raise InputError(f"train size = {train_size}: data() has {user.train_size} training points")
    largest = user.train_size or train_size
    others = None if batches is None else tuple(map(int, batches))
    if others is not None and set(others) <= {batch}:
        raise InputError(f"batches = {list(others)}: must name another batch than yours, {batch}")
    for size in (int(batch), *(others or ())):
        if size < user.smallest_batch or (largest is not None and size > largest):
            end = "" if largest is None else f" to the {largest} training points"
            raise InputError(f"batch = {size}: must be from {user.smallest_batch}{end}")
    exponent = _EXPONENTS.get(str(user.settings().get("optimizer", "")).lower(), 1.0)
    point = Point(
        float(lr), int(batch), int(epochs), metric or "", exponent=exponent,
        most_seeds=max(40, 2 * (seeds or 0)),
    )  # fmt: skip
    with _runner(user, workers, store, started + seconds, say, gpus) as runner:
        candidates = Candidates(point.batch, largest, others)
        return BatchQuestion(runner, point, candidates, started, maximize, seeds).answered()


def diagnose_until_fitted(
    model: Any = None,
    data: Any = None,
    *,
    lr: float,
    batch: int,
    train: Callable[..., Any] | None = None,
    test_data: Any = None,
    loss: str | None = None,
    momentum: float | None = None,
    weight_decay: float | None = None,
    margin: float | None = None,
    sampler: str | None = None,
    train_sizes: Sequence[int] | None = None,
    budget: float | str = "10m",
    seeds: int = 3,
    workers: int | Callable[[], Workers] | None = None,
    store: Store | str | Path | None = None,
    say: Say = _to_stderr,
) -> FittedDiagnosis:
    """The paper's question: the regime of trainings that go on until every point is fitted.

    Gives the regime at `lr` and `batch`, the critical batch `B*` at several train sizes and how it
    grows with them, and the line of gradient descent.

    Parameters
    ----------
    model, data, lr, batch, test_data, budget, workers, store, say
        As in `diagnose`.
    train : callable, default None
        For any other framework: `train(lr, batch, train_size, seed)` that returns the alignment.
    loss : {"hinge", "cross-entropy"}, default "hinge"
        The hinge loss ends at exactly zero.
    momentum, weight_decay : float, default 0; of plain SGD
    margin : float, default 2^-10 for hinge, 1 for cross-entropy
        That every point must reach, above 0.
    sampler : {"fresh", "epoch"}, default "fresh"
        Whether batches are drawn anew at every step or from shuffled epochs.
    train_sizes : sequence of int, default as large as the budget allows
        Numbers of points to measure at.
    seeds : int, default 3
        Per point of the plane at first, at least 2; more where needed.

    Examples
    --------
    >>> def train(lr, batch, train_size, seed):
    ...     return max(lr / batch, lr / train_size**0.5, 0.01) * (1 + 0.01 * (seed % 3))
    >>> answer = diagnose_until_fitted(train=train, lr=1.0, batch=4, train_sizes=[256], seeds=2,
    ...                                say=lambda line: None)
    >>> answer.regime, round(answer.critical_batch.critical_batch.value)
    ('noise-dominated', 16)
    """
    started = monotonic()
    _check(lr, batch, seeds)
    seconds = seconds_of(budget)
    user = _loaded(
        model, data, test_data=test_data, train=train, seconds=seconds, until_fitted=True,
        loss=loss, momentum=momentum, weight_decay=weight_decay, margin=margin, sampler=sampler,
    )  # fmt: skip
    if batch < user.smallest_batch:
        raise InputError(f"batch = {batch}: must be at least {user.smallest_batch} with BatchNorm")
    if user.train_size is None and not train_sizes:
        raise InputError(
            f"{user.problem.name} trains by itself: say at which train sizes, as "
            "256,1024,4096; the largest is the one that is asked about"
        )
    sizes = given(train_sizes or ladder(user.train_size or 0), batch, user.train_size)
    for warning in user.warnings:
        say(f"warning: {warning}")
    with _runner(user, workers, store, started + seconds, say) as runner:
        question = Question(runner, float(lr), int(batch), seeds, tuple(sizes), bool(train_sizes))
        return question.answered(started)


def _check(lr: float, batch: int, seeds: int | None) -> None:
    require("lr", lr, lambda x: 0 < x < math.inf, "a finite number above 0")
    require_whole("batch", batch)
    require_whole("seeds", 2 if seeds is None else seeds, least=2)


def _loaded(model: Any, data: Any, **given: Any) -> UserTraining:
    ways = [model is not None, given["train"] is not None, given.get("command") is not None]
    if not any(ways):
        raise InputError(
            "nothing to diagnose: give a model with its data, a file, train or a command"
        )
    if given.get("command") is not None and sum(ways) > 1:
        raise InputError("a command and a model, file or train: give one of them")
    return user_training(model, data, **given)


def _command(given: str | UserCommand | None, metrics: str | Sequence[str]) -> UserCommand | None:
    if isinstance(given, str):
        return command_of(given, metrics)
    if metrics:
        raise InputError("metrics: are of a command that is given as a text")
    return given


@contextmanager
def _runner(
    user: UserTraining,
    workers: int | Callable[[], Workers] | None,
    store: Store | str | Path | None,
    deadline: float,
    say: Say,
    gpus: Sequence[int | str] = (),
) -> Iterator[Runner]:
    """The runner of a call, and the end of all that it holds: workers, a store of its own, data."""
    if not user.problem.path:
        if workers or gpus:
            raise InputError("workers: cannot see functions of this process; give a file")
        workers = 0
    with ExitStack() as stack:
        # Functions and their data are held no longer than they are asked about.
        if isinstance(user.problem, UserProblem):
            stack.callback(forget, user.problem)
        if torch := sys.modules.get("torch"):
            # What runs in this process has one thread, as in a worker: batches are small.
            stack.callback(torch.set_num_threads, torch.get_num_threads())
            torch.set_num_threads(1)
        kept = Kept(workers if callable(workers) else partial(workers_of, workers, gpus))
        stack.callback(kept.close)
        keeps = store is not None
        if store is None:
            store = Path(stack.enter_context(TemporaryDirectory())) / "runs.sqlite"
        place = store if isinstance(store, Store) else Store(store)
        yield Runner(user, place, kept, deadline, say, keeps=keeps)
