"""`diagnose` for a number of epochs, from what a user brings to the answer."""

from __future__ import annotations

import json
import math
import re
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sgdphase as sp
from sgdphase._diagnose import Diagnosis
from sgdphase.errors import InputError, UserError

torch = pytest.importorskip("torch")

KEYS = (
    "yours", "equivalents", "largest_batch", "rule", "regime", "slopes", "warnings", "unknown",
    "trainings", "seconds",
)  # fmt: skip


def law(lr: float, batch: int, epochs: int, seed: int, **off: float) -> dict[str, float]:
    """How far it gets is lr x epochs / batch; seeds scatter by 2 % together and 1 % each."""
    rng = np.random.default_rng([seed, batch, epochs, round(1e6 * lr)])
    p = lr * epochs / batch / (0.1 * 10 / 16)
    scale = np.exp(
        0.02 * np.random.default_rng(seed).standard_normal(3) + 0.01 * rng.normal(size=3)
    )
    missing = max(2 - math.log2(p), 0)
    return {
        "test_error": (0.04 + 0.01 * missing) * scale[0],
        "train_loss": 0.3 * p**-0.5 * scale[1],
        "weight_change": p**0.5 * scale[2],
        "steps": 1000 * epochs // batch,
        **off,
    }


def ask(train: Callable[..., Any], **options: Any) -> Diagnosis:
    settings = {"lr": 0.1, "batch": 16, "epochs": 10, "budget": 60, "say": lambda line: None}
    return sp.diagnose(train=train, **settings | options)


def test_the_whole_answer() -> None:
    """Up to a batch from which on what would match is unstable."""

    def train(lr: float, batch: int, epochs: int, seed: int) -> dict[str, float]:
        if lr > 1.2:
            return {"test_error": math.nan, "train_loss": math.inf, "weight_change": 1.0}
        return law(min(lr, 0.8), batch, epochs, seed)

    found = ask(train, train_size=1024)
    rows = {row.batch: row for row in found.equivalents}
    assert [b for b, row in rows.items() if row.exists] == [32, 64, 128]
    # Two rows without an lr, so that "from 256 on" rests on more than one.
    assert list(rows) == [32, 64, 128, 256, 512]
    assert rows[256].exists is False and rows[512].exists is False
    assert rows[64].lr.value == pytest.approx(0.4, rel=0.1)
    assert rows[64].steps == 156
    assert found.recommended is rows[128]
    assert found.regime.name == "time-limited"
    assert found.table is not None and found.table.rule is not None
    assert found.table.rule.exponent.value == pytest.approx(1, abs=0.05)
    text = str(found)
    assert text.startswith("Your training: batch 16, lr 0.1, 10 epochs, trained by its own")
    assert "Raise the batch to 128, with lr = 0.1 x (batch/16)^" in text
    assert "no learning rate makes up for the lost steps" in text
    assert repr(found) == text
    assert "<table>" in found._repr_html_() and "0.1 (yours)" in found._repr_html_()
    pytest.importorskip("pandas")
    assert found.to_pandas()["batch"].tolist() == [16, 32, 64, 128, 256, 512]


def test_json_has_the_keys_that_are_promised() -> None:
    plain = json.loads(json.dumps(ask(law, batches=[32], seeds=3).as_dict(), allow_nan=False))
    assert not [key for key in KEYS if key not in plain]
    (row,) = plain["equivalents"]
    assert row.keys() >= {"batch", "exists", "verdict", "lr", "steps", "metrics", "differs"}
    assert row["lr"].keys() == {"value", "low", "high"}
    assert plain["yours"]["metrics"]["test_error"].keys() == {"value", "low", "high"}
    assert plain["rule"].keys() == {"exponent", "up_to_batch"}
    assert plain["largest_batch"].keys() == {"value", "low", "high", "reason"}
    assert plain["slopes"].keys() >= {"lr", "batch", "epochs"}


@pytest.mark.parametrize(
    ("metrics", "said"),
    [
        ({"test_error": math.nan}, "diverged (its loss is not finite)"),
        (
            {"test_error": 0.9, "train_loss": 5.0, "initial_loss": 2.3},
            "ended with a higher loss than it started with",
        ),
    ],
)
def test_a_training_that_fails_is_named_so(metrics: dict[str, float], said: str) -> None:
    found = ask(lambda lr, batch, epochs, seed: metrics)
    assert found.table is None
    (reason,) = found.unknown
    assert reason == f"everything: your training {said} in 2 of 2 seeds; try a lower lr"
    assert "Your training gives no result to compare with" in str(found)
    assert "worse" not in str(found)


def test_a_seed_that_diverges_ends_it_and_is_counted() -> None:
    def train(lr: float, batch: int, epochs: int, seed: int) -> dict[str, float]:
        return {"test_error": math.nan} if seed == 3 else law(lr, batch, epochs, seed)

    found = ask(train)
    assert found.trainings < 20
    assert [line for line in found.unknown if "diverged (its loss is not finite) in 1 of 5" in line]


def test_a_batch_at_which_everything_diverges_is_named() -> None:
    def train(lr: float, batch: int, epochs: int, seed: int) -> dict[str, float]:
        return law(lr, batch, epochs, seed) if batch == 16 else {"test_error": math.nan}

    found = ask(train, batches=[32])
    assert found.trainings < 120
    assert found.equivalents == ()
    (line,) = (line for line in found.unknown if line.startswith("batch 32: at each of "))
    assert "learning rates tried, a training diverged" in line


def test_an_unknown_number_of_points_is_found_by_a_batch_that_trains_alike() -> None:
    """300 points, and a loader that takes them all where the batch is larger."""

    def train(lr: float, batch: int, epochs: int, seed: int) -> dict[str, float]:
        return law(lr, min(batch, 300), epochs, seed)

    found = ask(train, batch=4)
    assert [row.batch for row in found.equivalents] == [8, 16, 32, 64, 128, 256, 512]
    assert "batch 1024 trains exactly as batch 512: there are no more points" in found.ended
    assert found.recommended is not None and found.recommended.batch == 512
    # Where a user asks for batches, these are run.
    asked = ask(train, batch=256, batches=[512, 1024])
    assert [row.batch for row in asked.equivalents] == [512, 1024]


def test_a_seed_that_is_not_used_is_said_first() -> None:
    lines: list[str] = []
    found = ask(lambda lr, batch, epochs, seed: law(lr, batch, epochs, 0), batches=[32],
                say=lines.append)  # fmt: skip
    warning = "seeds of your training gave exactly the same: your code does not use the seed"
    assert warning in found.warnings[0]
    assert sum(warning in line for line in lines) == 1
    assert not any(warning in line for line in ask(law, batches=[32]).warnings)


def test_a_gap_below_the_first_row_is_said() -> None:
    """It gets worse above batch 16; rows at 256 and 512 do not tell from where on."""

    def train(lr: float, batch: int, epochs: int, seed: int) -> dict[str, float]:
        found = law(lr, batch, epochs, seed)
        return found | {"test_error": found["test_error"] * max(batch / 16, 1)}

    near, far = (ask(train, batches=batches) for batches in ([32, 64], [256, 512]))
    assert "Stay at batch 16. From 32 on no learning rate" in str(near)
    assert "No batch between 16 and 256 was compared with yours, and one may do." in str(far)
    assert far.table is not None and far.table.largest_batch is not None
    end = far.table.largest_batch.batch
    assert (end.low, end.high) == (16, 256)


def test_a_match_that_more_seeds_find_worse_is_searched_on() -> None:
    """Batch 32 matches at lr 0.2, where the first seeds leave it open and later ones are worse."""

    def train(lr: float, batch: int, epochs: int, seed: int) -> dict[str, float]:
        found = law(lr, batch, epochs, seed)
        if batch == 16:
            return found
        factor = 1.0 if lr > 0.35 else 1.0 + 0.08 * (seed % 2) if seed < 6 else 1.3
        return {**found, "test_error": 0.06 * factor}

    (row,) = ask(train, batches=[32]).equivalents
    assert row.exists and row.lr.value > 0.35


def test_only_the_batches_asked_for_are_spoken_of() -> None:
    found = ask(law, batches=[8, 4])
    assert [row.batch for row in found.equivalents] == [4, 8]
    assert found.table is not None and found.table.largest_batch is None
    assert "Each row has the lr that goes with its batch." in str(found)
    with pytest.raises(InputError, match=r"batches = \[16\]: must name another batch than yours"):
        ask(law, batches=[16])

    def slow(lr: float, batch: int, epochs: int, seed: int) -> dict[str, float]:
        time.sleep(0.05)  # too long for the budget: a smaller effort is made
        return law(lr, batch, epochs, seed)

    lines: list[str] = []
    ask(slow, batches=[32], budget=1, say=lines.append)
    assert any("comparing with batch 32 takes about" in line for line in lines)
    assert not any(re.search("larger batches|every factor of two", line) for line in lines)


def test_what_a_function_was_given_is_no_metric() -> None:
    def train(lr: float, batch: int, epochs: int, seed: int) -> dict[str, float]:
        given = {"lr": lr, "batch": batch, "seconds": 1.0}
        return {"test_error": law(lr, batch, epochs, seed)["test_error"], **given}

    found = ask(train, batches=[32])
    assert found.table is not None and found.table.observables == ("test_error",)
    sizes = set()

    def sized(lr: float, batch: int, seed: int, **more: int) -> dict[str, float]:
        sizes.add(more.get("train_size"))
        return law(lr, batch, more["epochs"], seed)

    ask(sized, batches=[32], seeds=2)
    assert sizes == {None}


def test_negative_numbers_are_as_good_as_others() -> None:
    """An alignment below zero, as with low accuracy, is matched and not dropped."""

    def train(lr: float, batch: int, epochs: int, seed: int) -> dict[str, float]:
        found = law(lr, batch, epochs, seed)
        return {"test_error": found["test_error"], "alignment": found["weight_change"] - 3.0}

    found = ask(train, batches=[32, 64])
    assert found.table is not None and found.table.observables == ("alignment",)
    assert [row.verdict for row in found.equivalents] == ["the same"] * 2
    assert found.equivalents[1].lr.low <= 0.4 <= found.equivalents[1].lr.high


def test_a_budget_that_is_spent_says_what_is_left_and_goes_on(tmp_path: Path) -> None:
    path, log, store, slow = (tmp_path / name for name in ("t.py", "log", "runs.sqlite", "slow"))
    path.write_text(
        "import os, time\n"
        "def train(lr, batch, epochs, seed):\n"
        f"    with open({str(log)!r}, 'a') as log:\n"
        "        print(lr, batch, epochs, seed, file=log)\n"
        f"    if (lr, batch) != (0.1, 16) and os.path.exists({str(slow)!r}):\n"
        "        time.sleep(0.1)\n"
        "    p = lr * epochs / batch * (1 + 1e-3 * ((seed * 7 + batch) % 5))\n"
        "    return {'test_error': 0.1 / p, 'train_loss': 1 / p}\n"
    )

    def asked(**options: Any) -> Diagnosis:
        settings = {"lr": 0.1, "batch": 16, "epochs": 10, "workers": 0, "say": said.append}
        return sp.diagnose(path, **settings | options)

    said: list[str] = []
    # Its own trainings are short, and all others long: the budget ends among these.
    slow.touch()
    short = asked(budget=1, store=store)
    (left,) = (line for line in short.unknown if "the budget was spent" in line)
    assert left.endswith("; the same command goes on from here")
    slow.unlink()
    longer = asked(budget=60, store=store, batches=[32])
    slow.touch()
    calls = log.read_text().splitlines()
    assert len(calls) == len(set(calls)) >= longer.trainings
    assert longer.equivalents[0].verdict == "the same"
    # Without a store nothing goes on.
    gone = asked(budget=1)
    assert any("the budget was spent" in line for line in gone.unknown)
    assert not any("goes on" in line for line in gone.unknown)


def test_the_first_line_comes_at_once_and_the_estimate_before_the_work() -> None:
    lines: list[tuple[float, str]] = []
    started = time.monotonic()

    def train(lr: float, batch: int, epochs: int, seed: int) -> dict[str, float]:
        time.sleep(0.04)
        return law(lr, batch, epochs, seed)

    found = ask(train, batches=[32, 64], say=lambda line: lines.append((time.monotonic(), line)))
    assert lines[0][0] - started < 2
    (estimate,) = [n for n, (_, line) in enumerate(lines) if "trainings and" in line]
    assert not any(line.startswith("batch 32") for _, line in lines[:estimate])
    assert found.estimated_seconds is not None and found.table_seconds is not None
    assert 0.5 <= found.table_seconds / found.estimated_seconds <= 2


def test_the_metric_can_be_chosen_and_must_be_there() -> None:
    found = ask(law, metric="train_loss", batches=[32])
    assert found.metric == "train_loss"
    with pytest.raises(InputError, match="metric = 'accuracy': must be one of test_error, train_l"):
        ask(law, metric="accuracy")
    with pytest.raises(InputError, match="which metric decides"):
        ask(lambda lr, batch, epochs, seed: {"this": 1.0, "that": 2.0})


def test_a_metric_that_a_model_does_not_have_is_refused_before_it_is_trained(
    blobs: Callable[..., Diagnosis],
) -> None:
    said: list[str] = []
    valid = "test_error, test_loss, train_error, train_loss, alignment, weight_change"
    with pytest.raises(InputError, match=f"metric = 'f1': must be one of {valid}"):
        blobs(lr=0.05, epochs=2, metric="f1", say=said.append)
    assert said == []
    found = blobs(lr=0.05, epochs=2, metric="weight_change", seeds=2)
    assert found.table is not None and ", ".join(found.table.yours.metrics) == valid


@pytest.mark.parametrize(("points", "used"), [(64, 4096), (840, 4200)])
def test_test_points_that_are_not_used_are_counted(points: int, used: int) -> None:
    """All are used if they are at most five per training point."""
    x = np.random.default_rng(0).standard_normal((4200, 2)).astype(np.float32)
    y = (x[:, 0] > 0).astype(int)
    found = sp.diagnose(
        lambda: torch.nn.Linear(2, 2), lambda: (x[:points], y[:points]), test_data=lambda: (x, y),
        lr=0.1, batch=8, epochs=1, batches=[16], seeds=2, say=lambda line: None,
    )  # fmt: skip
    said = [line for line in found.as_dict()["warnings"] if "test points are used" in line]
    assert [line.split(",")[0] for line in said] == (
        ["4096 of the 4200 test points are used"] if used < 4200 else []
    )
    assert found.as_dict()["settings"]["test points"] == used


def test_a_better_lr_at_the_own_batch_stands_first() -> None:
    """The law has its lowest error from 0.4 on: the search goes there, by factors of two."""
    found = ask(law, lr=0.02, batches=[32])
    lines = str(found).splitlines()
    assert lines[1].startswith("A lower test error, at your batch, lr 0.")
    assert lines[1].endswith(
        f"instead of {100 * found.table.yours.metrics['test_error'].value:.1f} %."
    )
    assert found.table.better_lr.lr.value >= 0.32
    assert found.as_dict()["better"][0]["batch"] == 16


def test_both_questions_may_share_a_store(tmp_path: Path) -> None:
    path, store = tmp_path / "both.py", tmp_path / "both.sqlite"
    path.write_text(
        "import numpy as np, torch\n"
        "rng = np.random.default_rng(0)\n"
        "x = rng.standard_normal((80, 4)).astype('float32')\n"
        "def model(): return torch.nn.Linear(4, 1)\n"
        "def data(): return x, (x[:, 0] > 0).astype(int)\n"
    )
    common: dict[str, Any] = {"lr": 0.5, "batch": 8, "workers": 0, "store": store,
                              "say": lambda line: None}  # fmt: skip
    first = sp.diagnose(path, epochs=2, batches=[16], seeds=2, budget=60, **common)
    # A short budget will do: what is of the other kind would be stumbled over at once.
    sp.diagnose_until_fitted(path, budget=1, train_sizes=[32], **common)
    again = sp.diagnose(path, epochs=2, batches=[16], seeds=2, budget=60, **common)
    assert first.table is not None and again.table is not None
    assert again.trainings >= first.trainings


def test_runs_of_the_store_are_not_passed_over(tmp_path: Path) -> None:
    """A later call with fewer seeds has the answer of all of them."""
    path, store = tmp_path / "law.py", tmp_path / "law.sqlite"
    path.write_text(
        "import numpy as np\n"
        "def train(lr, batch, epochs, seed):\n"
        "    rng = np.random.default_rng([seed, batch])\n"
        "    p = lr * epochs / batch\n"
        "    return {'test_error': 0.1 * np.exp(0.05 * rng.normal()) / p, 'train_loss': 1 / p}\n"
    )

    def asked(seeds: int) -> Diagnosis:
        return sp.diagnose(path, lr=0.1, batch=16, epochs=10, batches=[32], seeds=seeds, workers=0,
                           store=store, budget=60, say=lambda line: None)  # fmt: skip

    many, few = asked(10), asked(2)
    assert few.equivalents[0].seeds == many.equivalents[0].seeds >= 10


def test_a_training_that_learns_nothing_is_warned_of(blobs: Callable[..., Diagnosis]) -> None:
    assert not [line for line in blobs(lr=0.05, epochs=6).warnings if "learns nothing" in line]
    dead = sp.diagnose(
        lambda: torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.Softmax(dim=1)),
        lambda: (np.zeros((100, 2), np.float32), np.arange(100) % 3 == 0),
        lr=0.1, batch=10, epochs=1, batches=[20], seeds=2, say=lambda line: None,
    ).warnings  # fmt: skip
    assert [line for line in dead if line.startswith("your training learns nothing: its training")]
    assert [line for line in dead if line.startswith("the model ends in Softmax")]


def test_weight_decay_that_changes_is_said(blobs: Callable[..., Any]) -> None:
    """At lr ~ batch^1/2 and half the steps, decay acts less."""
    found = blobs(lr=0.002, optimizer="adamw", weight_decay=0.1, epochs=4)
    row = found.equivalents[0]
    ratio = row.lr.value * row.steps / (0.002 * found.table.yours.steps)
    said = f"weight decay acts {ratio:.2g} times as much" in str(found)
    assert said == (abs(math.log(ratio)) > math.log(1.1))
    assert "AdamW, weight decay 0.1" in str(found)
    # Names of regimes are for SGD.
    assert "Regime:" not in str(found) and "Slopes of the logarithm" in str(found)


@pytest.fixture
def blobs() -> Callable[..., Diagnosis]:
    """A small network on three clouds of points, in this process."""
    rng = np.random.default_rng(0)
    y = rng.integers(3, size=256)
    x = (rng.standard_normal((256, 8)) + 1.5 * np.eye(8)[y]).astype(np.float32)

    def model() -> Any:
        return torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.ReLU(), torch.nn.Linear(16, 3))

    def ask(**options: Any) -> Diagnosis:
        settings = {"batch": 16, "batches": [32], "seeds": 3, "budget": 60}
        return sp.diagnose(model, lambda: (x, y), **settings | {"say": lambda _: None} | options)

    return ask


def test_a_module_is_trained_as_its_user_does(blobs: Callable[..., Diagnosis]) -> None:
    found = blobs(lr=0.05, epochs=6, momentum=0.5, schedule="cosine", warmup=0.2)
    first = str(found).splitlines()[0]
    assert first.startswith(
        "Your training: batch 16, lr 0.05, 6 epochs, SGD, momentum 0.5, cosine schedule, warm-up "
        "0.2, cross-entropy, 205 points: test error "
    )
    (row,) = found.equivalents
    assert row.steps == 6 * math.ceil(205 / 32)
    # 13 and 7 steps per epoch: lr x steps stays.
    assert row.lr.value == pytest.approx(0.05 * 13 / 7, rel=0.05)
    assert found.regime.name == "time-limited"


def test_errors_of_the_user_are_shown_with_their_line(tmp_path: Path) -> None:
    path = tmp_path / "faulty.py"
    path.write_text(
        "def train(lr, batch, epochs, seed):\n"
        "    if batch > 8:\n"
        "        raise ValueError('too large')\n"
        "    return {'test_error': 0.1 / lr / epochs}\n"
    )
    with pytest.raises(UserError, match=r"faulty.py, line 3 in train .*too large \(at lr .*batch"):
        sp.diagnose(path, lr=0.1, batch=16, epochs=10, workers=0, say=lambda line: None)


def test_an_error_at_the_largest_lr_says_what_to_give_instead() -> None:
    def train(lr: float, batch: int, epochs: int, seed: int) -> dict[str, float]:
        if lr > 0.15:
            raise FloatingPointError("overflow")
        return law(lr, batch, epochs, seed)

    with pytest.raises(UserError, match=r"overflow .*too large for it, it should give nan"):
        ask(train)


def answer_of_a_limited(train: Callable[..., dict[str, float]], **options: Any) -> Diagnosis:
    return sp.diagnose(
        train=train, lr=0.1, batch=8, epochs=40, seeds=2, say=lambda _: None, **options
    )


def limited(lr: float, batch: int, epochs: int, seed: int) -> dict[str, float]:
    if batch > 40:
        raise MemoryError("out of memory")
    progress = lr * epochs / batch
    noise = 1e-3 * np.random.default_rng([seed, batch]).standard_normal()
    return {"test_error": 0.05 + 0.1 / (1 + progress) + noise, "train_loss": 1 / (1 + progress)}


@pytest.mark.parametrize("batches", [None, [16, 32, 64, 128]])
def test_a_batch_that_cannot_be_run_costs_only_itself(batches: list[int] | None) -> None:
    answer = answer_of_a_limited(limited, batches=batches)
    assert [row.batch for row in answer.equivalents] == [16, 32]
    assert all(row.verdict == "the same" for row in answer.equivalents)
    (line,) = [line for line in answer.unknown if "out of memory" in line]
    assert line.startswith("batch 64 and larger: ") and "too large for it" not in line
    last = "no other batch was asked for" if batches else "at batch 64 your training fails"
    assert answer.ended.endswith(last)


def test_a_limit_just_above_the_own_batch_leaves_the_own_row() -> None:
    """The regime would look at twice the batch."""
    answer = answer_of_a_limited(failing(lambda batch, seed: batch > 12))
    assert answer.equivalents == () and answer.table is not None
    assert any(line.startswith("batch 16 and larger: ") for line in answer.unknown)


def test_smaller_batches_may_fail_too() -> None:
    answer = answer_of_a_limited(failing(lambda batch, seed: batch < 4), batches=[2, 16])
    assert [row.batch for row in answer.equivalents] == [16]
    assert any(line.startswith("batch 2 and smaller: ") for line in answer.unknown)


def test_a_batch_that_fails_in_one_seed_is_left_out() -> None:
    answer = answer_of_a_limited(failing(lambda batch, seed: batch >= 32 and seed == 1))
    assert [row.batch for row in answer.equivalents] == [16]
    assert any(line.startswith("batch 32 and larger: ") for line in answer.unknown)


def failing(
    where: Callable[[int, int], bool],
) -> Callable[[float, int, int, int], dict[str, float]]:
    def train(lr: float, batch: int, epochs: int, seed: int) -> dict[str, float]:
        if where(batch, seed):
            raise RuntimeError("cannot be run")
        return limited(lr, min(batch, 40), epochs, seed)

    return train


def test_an_error_at_a_larger_lr_is_not_taken_for_one_of_the_batch() -> None:
    def train(lr: float, batch: int, epochs: int, seed: int) -> dict[str, float]:
        if lr > 0.5:
            raise ValueError("loss is nan")
        return limited(lr, min(batch, 40), epochs, seed)

    with pytest.raises(UserError, match=r"loss is nan .*it should give nan, not an error"):
        answer_of_a_limited(train)


def test_a_failure_that_the_budget_leaves_unchecked_is_unknown() -> None:
    def train(lr: float, batch: int, epochs: int, seed: int) -> dict[str, float]:
        if batch > 40:
            time.sleep(0.7)
            raise MemoryError("out of memory")
        return limited(lr, batch, epochs, seed)

    answer = answer_of_a_limited(train, budget="1s")
    assert any(line.startswith("batch 128 and larger: ") for line in answer.unknown)


def test_options_that_do_not_fit_are_refused(blobs: Callable[..., Diagnosis]) -> None:
    for options, said in (
        ({"loss": "square"}, "loss = 'square': must be cross-entropy, hinge, mse"),
        ({"optimizer": "lion"}, "optimizer = 'lion': must be sgd or adamw"),
        ({"schedule": "steps"}, "schedule = 'steps': must be constant, cosine or linear"),
        ({"optimizer": "adamw", "momentum": 0.9}, "momentum = 0.9: adamw has beta1 and beta2"),
        ({"batch": 1000}, "batch = 1000: must be from 1 to the 205 training points"),
        ({"batches": [4096]}, "batch = 4096: must be from 1 to the 205 training points"),
        ({"epochs": 0}, "epochs = 0: must be an integer of at least 1"),
        ({"seeds": 1}, "seeds = 1: must be an integer of at least 2"),
        ({"warmup": 2}, "warmup = 2: must be a number from 0 to below 1"),
    ):
        with pytest.raises(InputError, match=said):
            blobs(**{"lr": 0.05, "epochs": 2} | options)
    with pytest.raises(InputError, match=r"momentum = 0\.9: your code trains by itself"):
        ask(law, momentum=0.9)
