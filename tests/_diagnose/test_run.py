"""The whole way, on trainings whose law is known and on small networks."""

from __future__ import annotations

import math
import random
import re
import sys
import time
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sgdphase as sp
from sgdphase._diagnose import runner
from sgdphase._diagnose.fitted import schedule
from sgdphase._diagnose.fitted.answer import FittedDiagnosis
from sgdphase._diagnose.fitted.schedule import Schedule
from sgdphase._own import user_training
from sgdphase._sweep.workers import InProcess
from sgdphase.errors import InputError, UserError

LAW = '''
import math
import numpy as np

def train(lr, batch, train_size, seed):
    """m = max(b lr, m_gd + a lr/batch) with b = m_gd = 2^-4 and B* = a/b = 4 sqrt(P)."""
    rng = np.random.default_rng([seed, train_size, batch, round(1000 * math.log2(lr)) + 10**6])
    common = np.random.default_rng([seed, train_size]).standard_normal()
    first = 2.0**-4 * lr
    noise = 2.0**-4 * 4 * math.sqrt(train_size) * lr / batch
    scale = math.exp(0.5 * common + 0.05 * rng.standard_normal())
    return {"alignment": max(first, 2.0**-4 + noise) * scale, "first_step_alignment": first * scale}
'''
SIZES = [256, 1024, 4096]


@pytest.fixture
def law(tmp_path: Path) -> Path:
    path = tmp_path / "law.py"
    path.write_text(LAW)
    return path


def diagnosed(*what: Any, **options: Any) -> FittedDiagnosis:
    given: dict[str, Any] = {"lr": 8.0, "batch": 8, "train_sizes": SIZES, "workers": 0}
    return sp.diagnose_until_fitted(*what, say=lambda line: None, **(given | options))


@pytest.mark.parametrize(
    ("lr", "batch", "regime"),
    [(8.0, 8, "noise-dominated"), (64.0, 2048, "first-step-dominated"), (2.0**-9, 64, "GD")],
)
def test_the_regime_of_a_known_law(law: Path, lr: float, batch: int, regime: str) -> None:
    found = diagnosed(law, lr=lr, batch=batch)
    assert found.regime == found.expected == regime
    assert found.confidence is not None and found.confidence > 0.8


def test_the_critical_batch_and_its_growth(law: Path) -> None:
    # Each is a 90 % interval: all five cover by chance in 0.6 of cases at least; the seed is fixed,
    # and a B* wrong by half, or an exponent wrong by 0.3, shows.
    found = diagnosed(law)
    for size in found.sizes:
        b = size.critical_batch
        assert b is not None and b.high / b.low < 4
        assert b.low < 4 * math.sqrt(size.train_size) < b.high
    assert found.scaling is not None
    assert found.scaling.exponent.low < 0.5 < found.scaling.exponent.high
    assert found.scaling.chi.low < 1.0 < found.scaling.chi.high
    ten_times = found.scaling.extrapolated[40960]
    assert ten_times.low < 4 * math.sqrt(40960) < ten_times.high
    # T_c = 2^-4/16 here (a = 2^-4 4 sqrt(4096)), the first-step line is at 2 m_gd/b = 2.
    below, above = found.gd_line
    assert below.lr.low < below.batch * 2.0**-8 < below.lr.high
    assert above.lr.low < 2.0 < above.lr.high


def test_limits_follow_from_the_regime(law: Path) -> None:
    noise = diagnosed(law)
    assert noise.constant_lr.kind == "none"
    assert noise.constant_temperature.kind == "up to"
    assert noise.critical_batch is not None
    assert noise.constant_temperature.batch == noise.critical_batch.critical_batch
    first = diagnosed(law, lr=64.0, batch=2048)
    assert (first.constant_lr.kind, first.constant_temperature.kind) == ("any", "none")
    gd = diagnosed(law, lr=2.0**-9, batch=64)
    assert gd.constant_lr.kind == "any"
    # At constant T = 2^-15 the learning rate meets the line at lr = 2 beyond any batch here.
    assert gd.constant_temperature.batch is not None
    assert gd.constant_temperature.batch.value == SIZES[-1]


def test_the_first_step_bounds_the_critical_batch(law: Path) -> None:
    share = diagnosed(law).first_step_share
    assert share is not None
    # In the noise regime it is batch / (B* + batch m_gd/(a lr)), here 8 / 256 but for 0.4 %.
    assert share.value == pytest.approx(8 / 256, rel=0.1)


def test_what_is_in_the_store_is_not_run_again(law: Path, tmp_path: Path) -> None:
    store = tmp_path / "runs.sqlite"
    first = diagnosed(law, store=store)
    written = store.stat().st_mtime_ns, len(sp.Store(store).runs())
    again = diagnosed(law, store=store)
    assert (store.stat().st_mtime_ns, len(sp.Store(store).runs())) == written
    assert _without_seconds(again) == _without_seconds(first)
    other = diagnosed(law, store=store, lr=16.0)
    assert other.trainings < 2 * first.trainings


def test_a_budget_that_is_spent_and_the_same_call_again(law: Path, tmp_path: Path) -> None:
    store, slow = tmp_path / "runs.sqlite", tmp_path / "slow"
    sleeps = f"    time.sleep(0.02 * os.path.exists({str(slow)!r}))\n"
    law.write_text(LAW.replace("import math\n", "import math, os, time\n", 1).replace(
        "    rng =", f"{sleeps}    rng =", 1))  # fmt: skip
    slow.touch()
    started = time.monotonic()
    cut = diagnosed(law, store=store, budget=0.5)
    assert time.monotonic() - started < 5
    assert 0 < cut.trainings < 40
    assert "the same command goes on from here" in cut.unknown[0]
    assert cut.scaling is None and cut.constant_temperature.kind == "unknown"
    slow.unlink()
    whole = diagnosed(law, store=store)
    assert _without_seconds(whole) == _without_seconds(diagnosed(law))


def test_no_training_within_the_budget(tmp_path: Path) -> None:
    path = tmp_path / "slow.py"
    path.write_text("import time\ndef train(**given):\n    time.sleep(60)\n")
    found = diagnosed(path, train_sizes=[64], workers=1, budget=1.0, store=tmp_path / "s.sqlite")
    assert found.trainings == 0 and found.regime == "unclear"
    assert "no training ended" in found.unknown[0]
    assert found.as_dict()["critical_batch"] is None


def test_a_call_that_ends_late_but_whole_has_nothing_left(
    law: Path, tmp_path: Path, monkeypatch: Any
) -> None:
    """All runs are in the store: the answer is whole, although the budget is spent."""
    store = tmp_path / "runs.sqlite"
    whole = diagnosed(law, store=store)
    monkeypatch.setattr(runner.Runner, "is_over", True)
    again = diagnosed(law, store=store)
    assert _without_seconds(again) == _without_seconds(whole)


def test_many_seeds(law: Path) -> None:
    found = diagnosed(law, train_sizes=[256], seeds=13)
    assert found.regime == "noise-dominated"
    assert {run.training.seed for run in found.runs} == set(range(13))


def test_data_that_cannot_be_fitted_are_named_as_such(monkeypatch: Any) -> None:
    """Labels are coins: a line through 4 dimensions cannot have 64 of them right."""
    torch = pytest.importorskip("torch")
    monkeypatch.setattr(sys.modules["sgdphase._own.user"], "_EPOCHS", 8)
    rng = np.random.default_rng(0)
    x, y = rng.standard_normal((320, 4)), rng.integers(0, 2, 320)
    found = diagnosed(lambda: torch.nn.Linear(4, 1), (x, y), lr=0.5, seeds=2, train_sizes=[64])
    said = r"cannot be fitted: (\d+) of (\d+) runs end at training error about \d+ %"
    at_point, all_runs = (re.search(said, text) for text in (found.reason, found.warnings[-1]))
    assert at_point and at_point.groups() == ("2", "2")
    assert all_runs and all_runs.groups() == (str(found.trainings),) * 2
    assert found.regime == "missing" and found.critical_batch is None


def test_alignments_that_are_not_positive_are_the_reason(law: Path) -> None:
    law.write_text(LAW.replace('"alignment": max', '"alignment": -max'))
    found = diagnosed(law, train_sizes=[256])
    said = " runs have an alignment that is not positive"
    assert found.regime == "unclear" and said in found.reason
    assert f"left out: {found.trainings} of {found.trainings}{said}" in found.warnings[-1]
    assert "noisy" not in str(found)


def test_what_is_measured_at_a_larger_size_is_not_withheld(law: Path, monkeypatch: Any) -> None:
    """The budget ends with the regime at the second size: it is given, with B* there."""
    learn = runner.Runner.learn

    def until_line(self: Any, learner: Any, train_size: int, doing: str) -> bool:
        if type(learner).__name__ == "GdLineSearch" and train_size == 1024:
            self.deadline = 0.0
        return learn(self, learner, train_size, doing)

    monkeypatch.setattr(runner.Runner, "learn", until_line)
    monkeypatch.setattr(Schedule, "sizes", lambda self: ([256], [1024, 4096]))
    found = diagnosed(law, train_sizes=[256, 1024, 4096])
    assert found.measured_at == 1024 and found.regime == "noise-dominated"
    assert [size.train_size for size in found.sizes] == [256, 1024]
    assert found.sizes[-1].critical_batch is not None
    assert "the GD line at 1024 points: the budget was spent" in found.unknown
    # That of the smaller size still says where the first-step line is.
    assert found.gd_line == () and found.scaling is not None


def test_a_size_that_does_not_fit_into_the_budget_is_named(law: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr(Schedule, "sizes", lambda self: ([256], [1024, 4096]))
    monkeypatch.setattr(schedule, "_LEAST", 3600.0)  # seconds of a training
    found = diagnosed(law)
    assert found.measured_at == 256
    said = "the regime of your training at 1024 points: B* there takes about 1 d 6 h, and "
    assert any(line.startswith(said) for line in found.unknown)


class Hanging(InProcess):
    """Never ends the training of seed 1 at lr 4 and batch 8, and counts how often it is given."""

    given = 0

    def submit(self, fn: Any, /, *args: Any, **options: Any) -> Future[Any]:
        ((_, training),) = args[0]
        if (training.lr, training.batch, training.seed) == (4.0, 8, 1):
            Hanging.given += 1
            return Future()
        return super().submit(fn, *args, **options)


def test_it_says_that_the_same_command_goes_on_only_where_it_does(
    law: Path, tmp_path: Path
) -> None:
    # At lr 4 the second training takes all of the budget, and would the next time.
    stuck = diagnosed(law, lr=4.0, workers=Hanging, store=tmp_path / "s.sqlite", budget=0.5)
    assert stuck.trainings == 1
    assert "a single training may take all of it: a larger budget is needed" in stuck.unknown[0]
    # At lr 8 the budget ends after others, but nothing is kept.
    cut = diagnosed(law, workers=Hanging, budget=0.5)
    assert cut.trainings > 1 and cut.unknown[0].startswith("the budget was spent")
    for found in (stuck, cut):
        assert "the same command goes on" not in " ".join(found.unknown)


def test_a_training_that_is_given_up_is_not_run_again(
    law: Path, tmp_path: Path, monkeypatch: Any
) -> None:
    """It is waited for in full, once, and those behind it in the queue are not blamed."""
    monkeypatch.setattr(runner, "_SHORTEST_PATIENCE", 0.2)
    options: dict[str, Any] = {
        "train_sizes": [256], "seeds": 2, "workers": Hanging, "store": tmp_path / "s.sqlite",
    }  # fmt: skip
    first = diagnosed(law, **options)
    (late,) = [run for run in first.runs if run.outcome.status == "budget"]
    assert (late.training.lr, late.training.batch, late.training.seed) == (4.0, 8, 1)
    # Not ten times as long, for the ten that were asked for together.
    assert 0.2 <= late.seconds < 1.6
    assert f"left out: 1 of {first.trainings} runs was given up after " in first.warnings[-1]
    assert "at lr 4 and batch 8, 1 of 2 runs was given up" in " ".join(first.unknown)
    given = Hanging.given
    again = diagnosed(law, **options)
    assert Hanging.given == given and _without_seconds(again) == _without_seconds(first)
    # A call that waits twice as long tries again.
    monkeypatch.setattr(runner, "_SHORTEST_PATIENCE", 2 * late.seconds)
    diagnosed(law, **options)
    assert Hanging.given > given


def test_an_error_of_the_users_in_the_middle(law: Path) -> None:
    law.write_text(
        LAW + "\nwhole = train\ndef train(lr, batch, train_size, seed):\n"
        "    return whole(lr, batch, train_size, seed) if lr < 9 else 1 / 0\n"
    )
    with pytest.raises(UserError, match=r"law\.py, line \d+ in train .*ZeroDivisionError"):
        diagnosed(law)


def test_bad_input_is_said_in_one_line(law: Path, tmp_path: Path) -> None:
    for options, said in [
        ({"train_sizes": None}, "trains by itself: say at which train sizes"),
        ({"momentum": 0.9}, "momentum = 0.9: law.py trains by itself"),
        ({"batch": 8192}, "batch = 8192: must be at most the largest train size 4096"),
        ({"lr": -1.0}, "lr = -1.0: must be"),
        ({"seeds": 1}, "seeds = 1: must be an integer of at least 2"),
        ({"budget": 0.0}, "budget = '0.0': must be a time such as 90s, 10m or 2h"),
        ({"sampler": "all"}, "sampler = all: law.py trains by itself"),
        ({"loss": "cross-entropy"}, "loss = cross-entropy: law.py trains by itself"),
    ]:
        with pytest.raises(InputError, match=re.escape(said)) as caught:
            diagnosed(law, **options)
        assert "\n" not in str(caught.value)
    empty = tmp_path / "empty.py"
    empty.write_text("")
    with pytest.raises(InputError, match=r"has no model\(\) and no data\(\)"):
        diagnosed(empty)
    with pytest.raises(InputError, match="cannot be read"):
        diagnosed(tmp_path / "none.py")
    with pytest.raises(InputError, match="nothing to diagnose"):
        diagnosed()


def test_more_in_the_store_never_gives_less(law: Path, tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    assert torch
    path = tmp_path / "line.py"
    path.write_text(
        "import numpy as np\nfrom torch import nn\n"
        "def model():\n    return nn.Linear(4, 2)\n"
        "def data():\n    x = np.random.default_rng(0).standard_normal((320, 4))\n"
        "    return x, x[:, 0] > 0\n"
    )
    user, store = user_training(path, until_fitted=True), tmp_path / "s.sqlite"
    around = [
        user.training(lr=lr, batch=4, seed=seed, train_size=256)
        for lr in (0.01, 0.02, 0.04)
        for seed in (0, 1)
    ]
    sp.sweep(around, store, workers=0)
    again = diagnosed(path, lr=0.02, batch=4, train_sizes=None, store=store, budget=0.5)
    assert again.measured_at == 256


def test_an_answer_prints_itself(law: Path) -> None:
    lines = str(diagnosed(law, train_sizes=[256])).splitlines()
    assert lines[0].startswith("Trained by train() of law.py, which should end when every point")
    assert lines[1].startswith("Regime: noise-dominated")


def test_a_model_is_known_by_more_than_its_text(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    x = np.random.default_rng(0).standard_normal((80, 4))
    width = {"hidden": 2}

    def model() -> Any:
        return torch.nn.Sequential(torch.nn.Linear(4, width["hidden"]), torch.nn.ReLU(),
                                   torch.nn.Linear(width["hidden"], 2))  # fmt: skip

    def asked() -> set[str]:
        found = diagnosed(model, (x, x[:, 0] > 0), lr=0.06, batch=4, seeds=2, budget=0.2,
                          train_sizes=[32], store=tmp_path / "runs.sqlite")  # fmt: skip
        return {run.training.key for run in found.runs}

    narrow = asked()
    width["hidden"] = 8
    assert narrow and not narrow & asked()


def test_functions_have_no_workers() -> None:
    with pytest.raises(InputError, match="workers: cannot see functions"):
        diagnosed(train=lambda **given: 1.0, train_sizes=[8], workers=2)


def test_adaptive_optimisers_and_schedules_are_named(law: Path) -> None:
    law.write_text("# uses torch.optim.AdamW and lr_scheduler.StepLR\n" + LAW)
    said = " ".join(diagnosed(law, train_sizes=[256]).warnings)
    assert "AdamW" in said and "lr_scheduler" in said


def test_a_model_and_data_in_python(monkeypatch: Any) -> None:
    torch = pytest.importorskip("torch")
    monkeypatch.setattr(sys.modules["sgdphase._own.user"], "_EPOCHS", 16)
    rng = np.random.default_rng(0)
    x = rng.standard_normal((320, 8))
    y = np.where(x[:, 0] > 0, 7, 3)
    module = torch.nn.Sequential(torch.nn.Linear(8, 4), torch.nn.Dropout(0.5),
                                 torch.nn.Tanh(), torch.nn.Linear(4, 2))  # fmt: skip
    before = [w.detach().clone() for w in module.parameters()]
    states = random.getstate(), np.random.get_state()[1].tolist(), torch.get_rng_state().tolist()
    found = diagnosed(module, (x, y), lr=0.06, batch=4, seeds=2, budget=60.0, train_sizes=[64])
    after = random.getstate(), np.random.get_state()[1].tolist(), torch.get_rng_state().tolist()
    assert states == after
    assert all(torch.equal(a, b) for a, b in zip(before, module.parameters(), strict=True))
    assert module.training and found.runs
    said = " ".join(found.warnings)
    assert "Dropout is off" in said and "same weights for every seed" in said and "held out" in said
    assert found.noise_scale["start"] > 0
    assert {run.outcome.status for run in found.runs} <= {"fitted", "budget", "diverged"}


def _without_seconds(found: FittedDiagnosis) -> dict[str, Any]:
    return {name: value for name, value in found.as_dict().items() if name != "seconds"}


def test_of_a_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Accuracy grows with lr x steps; the direction is told from its name."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "train.sh").write_text(
        'awk "BEGIN {{ print \\"acc\\", 1 - 1 / (1 + 100 * $1 * $3 / $2) + 0.001 * $4 }}"'
    )
    line = "sh train.sh {lr} {batch} {epochs} {seed}"
    point: dict[str, Any] = {"lr": 0.1, "batch": 8, "epochs": 4, "batches": [16], "seeds": 2}
    quiet: dict[str, Any] = {"say": lambda line: None, "workers": 0}
    metrics = [r"val_acc=stdout:acc (\S+)", r"cost=stdout:(\S+)$"]
    answer = sp.diagnose(command=line, metrics=metrics, **point, **quiet)
    (row,) = answer.equivalents
    assert answer.metric == "val_acc" and row.verdict == "the same"
    assert row.lr.value == pytest.approx(0.2, rel=0.02)
    assert answer.is_sgd and answer.warnings == ()
    told = sp.command(line, metrics)
    other = sp.diagnose(command=told, metric="cost", optimizer="adamw", **point, **quiet)
    assert other.metric == "cost" and not other.is_sgd
    for given, what in {
        "neither": ({}, "nothing to diagnose"),
        "both": ({"model": "law.py", "command": told}, "give one of them"),
        "metrics alone": ({"metrics": metrics}, "are of a command"),
        "metrics twice": ({"command": told, "metrics": metrics}, "are of a command"),
        "another metric": ({"command": told, "metric": "loss"}, "must be one of val_acc, cost"),
        "a size": ({"command": f"{line} {{train_size}}", "metrics": metrics}, "give --train-size"),
    }.values():
        with pytest.raises(InputError, match=what):
            sp.diagnose(**given, **point, **quiet)
    (tmp_path / "train.sh").write_text("exit 2")
    with pytest.raises(UserError, match=r"train.sh ended with exit code 2, .*\(at lr 0.1, batch 8"):
        sp.diagnose(command=line, metrics=metrics, **point, **quiet)
