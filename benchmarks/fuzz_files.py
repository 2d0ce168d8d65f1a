"""Files and trainings for `fuzz.py`: sound ones, odd ones, and outcomes that are made up."""

from __future__ import annotations

import hashlib
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
from matplotlib.figure import Figure

import sgdphase as sp
from sgdphase._models import MODELS
from sgdphase._records import Outcome, Training
from sgdphase._sweep import trainers
from sgdphase.errors import InputError
from sgdphase.problems._files import CIFAR10, MNIST

MOST_TRAININGS = 300
HERE = "tcp://here:8786"
# Figures of the gallery that are small, and its folder.
GALLERY = ("fig3", "fig3-inset", "figS9a")
SHOWN = Path(__file__).parents[1] / "docs" / "gallery"


def make_files(folder: Path) -> None:
    """What `PLACES` names: stores and tables, sound and not, links and folders."""
    with stubs():
        # The one of the examples, coarse.
        plan = sp.grid(
            dim=128, train_size=8192, test_size=1024, chi=1.0, margin=2.0**-7, seeds=2,
            lr=[2.0**k for k in range(-4, 8, 2)], batch=[4**k for k in range(6)],
        )  # fmt: skip
        nets = sp.grid(
            sp.TeacherTask(dim=8), model="fc", depth=1, width=4, train_size=16, lr=[1.0, 2.0],
            batch=[1, 2], test_size=16,
        )  # fmt: skip
        sp.sweep(plan, folder / "runs.sqlite", workers=0, trajectories=True)
        sp.sweep(nets, folder / "fc.sqlite", workers=0)
        for each in (plan, nets):
            sp.sweep(each, folder / "mixed.sqlite", workers=0)
    with stubs("fail"):
        sp.sweep(plan[:8], folder / "failed.sqlite", workers=0)
    from sgdphase._sweep.exports import export

    export(folder / "runs.sqlite", folder / "exported.csv")
    _make_tables(folder)
    (folder / "empty.sqlite").write_text("")
    (folder / "foreign.sqlite").write_bytes(b"SQLite format 3\x00" + bytes(4000))
    sound = (folder / "runs.sqlite").read_bytes()
    (folder / "cut.sqlite").write_bytes(sound[: len(sound) // 2])
    _make_points(folder)
    _make_claims(folder)
    for files in (MNIST, CIFAR10):
        (folder / files.folder).mkdir()
        for name in files.digests:
            (folder / files.folder / name).write_text("x")
    (folder / "train.py").write_text(
        "def train(lr, batch, epochs, seed):\n    return {'val_loss': lr + 1 / batch}\n"
    )
    (folder / "my_training.py").write_text(_TRAINING)
    (folder / "broken.py").write_text("import nothing_of_this_name\n")
    (folder / "file.txt").write_text("x")
    (folder / "folder").mkdir()
    for link, target in (("link.sqlite", "runs.sqlite"), ("dangling.sqlite", "gone"),
                         ("loop.sqlite", "loop.sqlite"), ("link.csv", "runs.csv")):  # fmt: skip
        (folder / link).symlink_to(target)
    _forge(folder)


_TRAINING = """import torch

def model():
    return torch.nn.Linear(3, 2)

def data():
    x = torch.randn(512, 3, generator=torch.Generator().manual_seed(0))
    return x, (x[:, 0] > 0).long()
"""


def _make_tables(folder: Path) -> None:
    rows: list[dict[str, float]] = [
        {"lr": 0.05 * 2.0**k, "batch": 8 * b, "val_loss": 1 + (k - math.log2(b) / 2) ** 2 / 9 + s
         / 99, "seed": s, "model": m, "epochs": 3, "steps": 1000 * m * (1 + 64 / b)}
        for k in range(-3, 7) for b in (1, 2, 4, 8, 16, 32) for s in (0, 1) for m in (1, 2)
    ]  # fmt: skip
    (folder / "runs.json").write_text(json.dumps(rows))
    (folder / "runs.jsonl").write_text("\n".join(map(json.dumps, rows)))
    table = "\n".join([",".join(rows[0]), *(",".join(map(str, row.values())) for row in rows)])
    (folder / "runs.csv").write_text(table)
    (folder / "runs.tsv").write_text(table.replace(",", "\t"))
    text = "lr,batch,val_loss\n" + "\n".join(
        f"{r['lr']},{r['batch']},{r['val_loss']}" for r in rows
    )
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
    """Some of the gallery's, as they are and changed; and what claims may not be."""
    for name in GALLERY:
        for path in (*SHOWN.glob(f"{name}.claims.json"), *SHOWN.glob(f"runs/{name}.*gz")):
            for place in ("docs/gallery", "differs", "no-runs")[: 2 + (path.parent == SHOWN)]:
                target = folder / place / path.relative_to(SHOWN)
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(path, target)
    changed = folder / "differs" / f"{GALLERY[0]}.claims.json"
    changed.write_text(changed.read_text().replace('"verdict": "holds"', '"verdict": "fails"'))
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
_NAMES = (
    "w1",
    "w_perp",
    "norm",
    "alignment",
    "weight_change",
    "first_step_w1",
    "first_step_w_perp",
)
# How trainings end, and how many of ten do so.
WORLDS = {"fine": 0, "few fail": 2, "fail": 10, "few diverge": 3, "diverge": 10, "nan": 2}


class MadeUpError(ValueError):
    """What a training raises that fails."""


def _outcome(training: Training, world: str) -> Outcome:
    """Made up, but of the shape of a real one: it grows with lr, and rows differ."""
    strikes = zlib.crc32(training.key.encode()) % 10 < WORLDS[world]
    if strikes and "fail" in world:
        raise MadeUpError("[/red] this training fails")
    x = training.lr / training.batch + training.lr * 1e-3
    numbers = {name: x * (1 + n) for n, name in enumerate(_NAMES)}
    numbers |= {"val_loss": 1 + abs(math.log(x)), "test_mse": x, "train_loss": x, "true_class": x}
    numbers |= {"unfitted": 0.0, "train_error": 0.0, "test_error": 0.1, "crossover_time": math.nan}
    status: Any = "fitted" if training.epochs is None else "finished"
    if strikes:
        numbers = dict.fromkeys(numbers, math.nan if world == "nan" else math.inf)
        status = "diverged" if "diverge" in world else status
    along = {name: np.array([0.0, x]) for name in _ALONG}
    return Outcome(status, 10, training.lr * 10, numbers, along)


def _no_network(*_: Any, **__: Any) -> Any:
    raise OSError(101, "Network is unreachable")


def _cluster(address: str) -> Any:
    from sgdphase._sweep import workers

    if address == HERE:
        return workers.workers_of(0)
    raise InputError(f"dask = '{address}': there is no cluster in this test")


def _collected(figure: Any, scale: str, store: Any, **_: Any) -> Any:
    from sgdphase.paper._tables import read_tables

    if figure.name not in GALLERY:
        raise InputError("this figure is not made in this test")
    return read_tables(SHOWN / "runs", figure.name)[0]


def _no_picture(figure: Figure, out: Any, **_: Any) -> None:
    out.write(b"") if hasattr(out, "write") else Path(out).touch()


@contextmanager
def stubs(
    world: str = "fine", meanwhile: Callable[[], None] = lambda: None, draws: bool = True
) -> Iterator[None]:
    """Trainings end as `world` says; `meanwhile` is called at the start of each."""
    from sgdphase._sweep import plan, run, workers
    from sgdphase.paper import _make

    real, workers_of = trainers.trainer_of, workers.workers_of

    def train(training: Training, **_: Any) -> Outcome:
        meanwhile()
        return _outcome(training, world)

    def trainer_of(model: str) -> Any:
        made_up = trainers.Trainer(train, lambda training: 0.01)
        return made_up if model in MODELS else real(model)

    def here(count: Any, gpus: Any = ()) -> Any:
        workers_of(count, gpus).stop()
        return workers_of(0)

    patches = {
        (trainers, "trainer_of"): trainer_of,
        (run, "trainer_of"): trainer_of,
        (workers, "workers_of"): here,
        (plan, "MOST"): MOST_TRAININGS,
        (_make, "collect"): _collected,
    }
    digest = hashlib.sha256(b"x").hexdigest()
    with ExitStack() as stack:
        for (place, name), other in patches.items():
            stack.enter_context(mock.patch.object(place, name, other))
        if not draws:
            stack.enter_context(mock.patch.object(Figure, "savefig", _no_picture))
        for files in (MNIST, CIFAR10):
            stack.enter_context(
                mock.patch.dict(files.digests, dict.fromkeys(files.digests, digest))
            )
        stack.enter_context(mock.patch("socket.socket.connect", _no_network))
        stack.enter_context(mock.patch("socket.getaddrinfo", _no_network))
        stack.enter_context(mock.patch("webbrowser.open", lambda url: True))
        stack.enter_context(mock.patch("sgdphase._sweep.cluster.DaskWorkers", _cluster))
        stack.enter_context(mock.patch("sgdphase._sweep.DaskWorkers", _cluster, create=True))
        yield
