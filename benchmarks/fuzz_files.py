"""Files and trainings for `fuzz.py`: sound ones, odd ones, and outcomes that are made up."""

from __future__ import annotations

import json
import math
import shutil
import sqlite3
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np

import sgdphase as sp
from sgdphase._models import MODELS
from sgdphase._records import Outcome, Training
from sgdphase._sweep import trainers
from sgdphase.errors import InputError

MOST_TRAININGS = 300


def make_files(folder: Path) -> None:
    """What `PLACES` names: stores and tables, sound and not, links and folders."""
    with stubs():
        plan = sp.grid(
            dim=8, train_size=32, test_size=16, lr=[0.5, 1.0, 2.0], batch=[1, 4, 16], seeds=2
        )
        nets = sp.grid(
            sp.TeacherTask(dim=8), model="fc", depth=1, width=4, train_size=16, lr=[1.0, 2.0],
            batch=[1, 2], test_size=16,
        )  # fmt: skip
        sp.sweep(plan, folder / "runs.sqlite", workers=0, trajectories=True)
        sp.sweep(nets, folder / "fc.sqlite", workers=0)
        for each in (plan, nets):
            sp.sweep(each, folder / "mixed.sqlite", workers=0)
        with mock.patch.object(trainers, "trainer_of", lambda model: _trainer(_fail)):
            sp.sweep(plan[:2], folder / "failed.sqlite", workers=0)
    from sgdphase._sweep.exports import export

    export(folder / "runs.sqlite", folder / "runs.csv")
    rows = [{"lr": 2.0**k, "batch": 4 * b, "val_loss": abs(k) + 1 / b, "seed": s}
            for k in range(-3, 4) for b in (1, 2, 4, 8, 16) for s in (0, 1)]  # fmt: skip
    (folder / "runs.json").write_text(json.dumps(rows))
    (folder / "runs.jsonl").write_text("\n".join(map(json.dumps, rows)))
    text = "lr,batch,val_loss\n" + "\n".join(
        f"{r['lr']},{r['batch']},{r['val_loss']}" for r in rows
    )
    (folder / "runs.tsv").write_text(text.replace(",", "\t"))
    (folder / "utf16.csv").write_text(text, encoding="utf-16")
    (folder / "latin.csv").write_text(
        text.replace("val_loss", "Verlust \u00fc"), encoding="latin-1"
    )
    (folder / "binary.csv").write_bytes(bytes(range(256)) * 8)
    (folder / "empty.csv").write_text("")
    (folder / "short.csv").write_text("lr,batch,val_loss\n1,2,3\n")
    (folder / "huge.csv").write_text(
        "lr,batch,val_loss\n1e308,1e308,1e308\n1e-320,1,1e-320\n2,3,4\n" * 3
    )
    (folder / "nan.csv").write_text("lr,batch,val_loss\nnan,1,inf\n-1,0,nan\n1,2.5,-inf\n")
    (folder / "markup.csv").write_text(text.replace("val_loss", "[/red]loss"))
    (folder / "[/red].csv".replace("/", "_")).write_text(text)
    (folder / "odd.json").write_text('[1, {"lr": {"a": [1]}}, null, "x"]')
    (folder / "deep.json").write_text("[" * 100_000 + "]" * 100_000)
    (folder / "diagnosis.json").write_text('{"equivalents": 3, "gd_line": "x"}')
    (folder / "foreign.sqlite").write_bytes(b"SQLite format 3\x00" + bytes(4000))
    (folder / "empty.sqlite").write_text("")
    sound = (folder / "runs.sqlite").read_bytes()
    (folder / "cut.sqlite").write_bytes(sound[: len(sound) // 2])
    _make_points(folder)
    _make_claims(folder)
    (folder / "train.py").write_text(
        "def train(lr, batch, epochs, seed):\n    return {'val_loss': lr + 1 / batch}\n"
    )
    (folder / "broken.py").write_text("import nothing_of_this_name\n")
    (folder / "file.txt").write_text("x")
    (folder / "folder").mkdir()
    for link, target in (("link.sqlite", "runs.sqlite"), ("dangling.sqlite", "gone"),
                         ("loop.sqlite", "loop.sqlite"), ("link.csv", "runs.csv")):  # fmt: skip
        (folder / link).symlink_to(target)
    _forge(folder)


def _make_points(folder: Path) -> None:
    # As many as the default sizes want.
    x, y = np.random.default_rng(0).standard_normal((40_000, 3), np.float32), np.arange(40_000) % 2
    np.savez(folder / "points.npz", x=x, y=y)
    np.savez(folder / "images.npz", x=x[:10_000, :, None, None], y=y[:10_000])
    x, y = x[:40], y[:40]
    np.savez(folder / "nan.npz", x=x * np.nan, y=y)
    np.savez(folder / "pickle.npz", x=np.array([{}, {}], dtype=object), y=y)
    raw = bytearray((folder / "points.npz").read_bytes())
    raw[6] |= 1
    raw[raw.find(b"PK\x01\x02") + 8] |= 1  # the flag of encryption, twice
    (folder / "encrypted.npz").write_bytes(raw)
    heads = {"header.npz": "{'descr': ((((", "huge.npz": "{'descr': '<f8', 'fortran_order': False, "
             "'shape': (1152921504606846976, 99), }"}  # fmt: skip
    for name, head in heads.items():
        with zipfile.ZipFile(folder / name, "w") as file:
            for array in "xy":
                file.writestr(f"{array}.npy", b"\x93NUMPY\x01\x00v\x00" + head.ljust(118).encode())


def _make_claims(folder: Path) -> None:
    (folder / "claims").mkdir()
    entries = ("id", "claim", "rule", "verdict", "cost")
    claim = dict.fromkeys(entries, "[/red]") | dict.fromkeys(
        ("predicted", "measured", "low", "high")
    )
    head = {"figure": "fig2", "scale": "quick", "command": "", "ledger": "paper", "runs": {}}
    (folder / "claims/fig2.claims.json").write_text(json.dumps(head | {"claims": [claim]}))
    (folder / "odd-claims").mkdir()
    (folder / "odd-claims/a.claims.json").mkdir()
    (folder / "a.claims.json").mkdir()
    for number, odd in enumerate(("null", "[]", '{"claims": [1]}')):
        (folder / f"a.claims.json/{number}.claims.json").write_text(odd)


def _forge(folder: Path) -> None:
    """A store with rows that have a valid checksum and no sense."""
    shutil.copy(folder / "runs.sqlite", folder / "forged.sqlite")
    forged = (("training", "{}"), ("status", "what"), ("observables", '{"w1": "text"}'),
              ("observables", "[1]"), ("steps", -1), ("time", "soon"))  # fmt: skip
    with closing(sqlite3.connect(folder / "forged.sqlite")) as store, store:
        names = [each[1] for each in store.execute("PRAGMA table_info(runs)")][:-1]
        rows = store.execute(f"SELECT {', '.join(names)} FROM runs").fetchall()
        for row, (column, value) in zip(rows, forged, strict=False):
            changed = [
                value if name == column else old for name, old in zip(names, row, strict=True)
            ]
            checksum = zlib.crc32(json.dumps(changed).encode())
            update = f"UPDATE runs SET {column} = ?, crc = ? WHERE key = ?"
            store.execute(update, (value, checksum, row[0]))


_ALONG = ("step", "time", "w1", "w_perp", "norm", "unfitted", "unfitted_test")


def _outcome(training: Training, **_: Any) -> Outcome:
    """Made up, but of the shape of a real one: it grows with lr, and rows differ."""
    x = training.lr / training.batch + training.lr * 1e-3
    names = (
        "w1",
        "w_perp",
        "norm",
        "alignment",
        "weight_change",
        "first_step_w1",
        "first_step_w_perp",
    )
    numbers = {name: x * (1 + n) for n, name in enumerate(names)}
    numbers |= {"val_loss": 1 + abs(math.log(x)), "test_mse": x, "train_loss": x, "true_class": x}
    numbers |= {"unfitted": 0.0, "train_error": 0.0, "test_error": 0.1, "crossover_time": math.nan}
    along = {name: np.array([0.0, x]) for name in _ALONG}
    status: Any = "fitted" if training.epochs is None else "finished"
    return Outcome(status, 10, training.lr * 10, numbers, along)


def _fail(training: Training, **_: Any) -> Outcome:
    raise ValueError("[/red] this training fails")


def _trainer(train: Callable[..., Outcome]) -> Any:
    return trainers.Trainer(train, lambda training: 0.01)


def _no_network(*_: Any, **__: Any) -> Any:
    raise OSError(101, "Network is unreachable")


def _no_cluster(address: str) -> Any:
    raise InputError(f"dask = '{address}': there is no cluster in this test")


def _no_trainings(*_: Any, **__: Any) -> Any:
    raise InputError("a figure is not made in this test")


@contextmanager
def stubs() -> Iterator[None]:
    from sgdphase._sweep import plan, run, workers
    from sgdphase.paper import _make

    real = trainers.trainer_of

    def trainer_of(model: str) -> Any:
        return _trainer(_outcome) if model in MODELS else real(model)

    def here(count: Any, gpus: Any = ()) -> Any:
        workers_of(count, gpus).stop()
        return workers_of(0)

    workers_of = workers.workers_of
    patches = {
        (trainers, "trainer_of"): trainer_of,
        (run, "trainer_of"): trainer_of,
        (workers, "workers_of"): here,
        (plan, "MOST"): MOST_TRAININGS,
        (_make, "collect"): _no_trainings,
    }
    with ExitStack() as stack:
        for (place, name), other in patches.items():
            stack.enter_context(mock.patch.object(place, name, other))
        stack.enter_context(mock.patch("socket.socket.connect", _no_network))
        stack.enter_context(mock.patch("socket.getaddrinfo", _no_network))
        stack.enter_context(mock.patch("webbrowser.open", lambda url: True))
        stack.enter_context(mock.patch("sgdphase._sweep.cluster.DaskWorkers", _no_cluster))
        stack.enter_context(mock.patch("sgdphase._sweep.DaskWorkers", _no_cluster, create=True))
        yield
