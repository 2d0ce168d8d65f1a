"""The whole way, on trainings whose law is known and on small networks."""

from __future__ import annotations

import math
import random
import re
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sgdphase as sp
from sgdphase.diagnose.brought import brought
from sgdphase.diagnose.learner import Trial
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


def diagnosed(path: Path, **options: Any) -> sp.Diagnosis:
    given: dict[str, Any] = {"lr": 8.0, "batch": 8, "train_sizes": SIZES, "workers": 0}
    return sp.diagnose(path, **(given | options))


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
    assert below.low < below.batch * 2.0**-8 < below.high
    assert above.low < 2.0 < above.high


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
    law.write_text(LAW.replace("import math\n", "import math, time\n", 1).replace(
        "    rng =", "    time.sleep(0.02)\n    rng =", 1))  # fmt: skip
    store = tmp_path / "runs.sqlite"
    started = time.monotonic()
    cut = diagnosed(law, store=store, budget=0.5)
    assert time.monotonic() - started < 5
    assert 0 < cut.trainings < 40
    assert any("budget was spent" in line for line in cut.unknown)
    assert cut.scaling is None and cut.constant_temperature.kind == "unknown"
    whole = diagnosed(law, store=store)
    assert _without_seconds(whole) == _without_seconds(diagnosed(law))


def test_no_training_within_the_budget(tmp_path: Path) -> None:
    path = tmp_path / "slow.py"
    path.write_text("import time\ndef train(**given):\n    time.sleep(60)\n")
    found = sp.diagnose(path, lr=1.0, batch=8, train_sizes=[64], workers=1, budget=3.0)
    assert found.trainings == 0 and found.regime == "unclear"
    assert "not one training" in found.unknown[0]
    assert found.as_dict()["critical_batch"] is None


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
        ({"sampler": "all"}, "sampler = 'all': must be fresh or epoch"),
        ({"loss": "cross-entropy"}, "loss = cross-entropy: law.py trains by itself"),
        ({"loss": "mse"}, "loss = 'mse': must be hinge or cross-entropy"),
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
        sp.diagnose(lr=1.0, batch=1)


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
    own, store = brought(path), tmp_path / "s.sqlite"
    around = [Trial(lr, 4, seed) for lr in (0.01, 0.02, 0.04) for seed in (0, 1)]
    sp.sweep([own.training(trial, 256) for trial in around], store, workers=0)
    again = sp.diagnose(path, lr=0.02, batch=4, workers=0, store=store, budget=0.5)
    assert again.measured_at == 256


def test_an_answer_prints_itself(law: Path) -> None:
    assert str(diagnosed(law, train_sizes=[256])).startswith("Regime: noise-dominated")


def test_a_model_is_known_by_more_than_its_text(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    x = np.random.default_rng(0).standard_normal((80, 4))
    width = {"hidden": 2}

    def model() -> Any:
        return torch.nn.Sequential(torch.nn.Linear(4, width["hidden"]), torch.nn.ReLU(),
                                   torch.nn.Linear(width["hidden"], 2))  # fmt: skip

    def asked() -> set[str]:
        found = sp.diagnose(model, (x, x[:, 0] > 0), lr=0.06, batch=4, seeds=2, budget=0.2,
                            train_sizes=[32], store=tmp_path / "runs.sqlite")  # fmt: skip
        return {run.training.key for run in found.runs}

    narrow = asked()
    width["hidden"] = 8
    assert narrow and not narrow & asked()


def test_functions_have_no_workers() -> None:
    with pytest.raises(InputError, match="workers: cannot see functions"):
        sp.diagnose(train=lambda **given: 1.0, lr=1.0, batch=1, train_sizes=[8], workers=2)


def test_adaptive_optimisers_and_schedules_are_named(law: Path) -> None:
    law.write_text("# uses torch.optim.AdamW and lr_scheduler.StepLR\n" + LAW)
    said = " ".join(diagnosed(law, train_sizes=[256]).warnings)
    assert "AdamW" in said and "lr_scheduler" in said


def test_a_model_and_data_in_python() -> None:
    torch = pytest.importorskip("torch")
    rng = np.random.default_rng(0)
    x = rng.standard_normal((320, 8))
    y = np.where(x[:, 0] > 0, 7, 3)
    module = torch.nn.Sequential(torch.nn.Linear(8, 4), torch.nn.Dropout(0.5),
                                 torch.nn.Tanh(), torch.nn.Linear(4, 2))  # fmt: skip
    before = [w.detach().clone() for w in module.parameters()]
    states = random.getstate(), np.random.get_state()[1].tolist(), torch.get_rng_state().tolist()
    found = sp.diagnose(module, (x, y), lr=0.06, batch=4, seeds=2, budget=60.0, train_sizes=[64])
    after = random.getstate(), np.random.get_state()[1].tolist(), torch.get_rng_state().tolist()
    assert states == after
    assert all(torch.equal(a, b) for a, b in zip(before, module.parameters(), strict=True))
    assert module.training and found.runs
    said = " ".join(found.warnings)
    assert "Dropout is off" in said and "one model object" in said and "held out" in said
    assert found.noise_scale["start"] > 0
    assert {run.outcome.status for run in found.runs} <= {"fitted", "budget", "diverged"}


def _without_seconds(found: sp.Diagnosis) -> dict[str, Any]:
    return {name: value for name, value in found.as_dict().items() if name != "seconds"}
