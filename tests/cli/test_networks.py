"""`sgdphase train|sweep fc|mobilenet` as a user types them."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from sgdphase import Store, cli

TINY = ("--train-size", "32", "--test-size", "64", "--width", "8", "--lr", "2", "--batch", "4",
        "--max-steps", "2000")  # fmt: skip
TEACHER = ("--data", "teacher", "--dim", "8", "--depth", "2")
SWEEP = ("sweep", "fc", *TEACHER, *TINY, "--store", "never.sqlite")


@pytest.fixture
def sgdphase(capsys, monkeypatch):  # type: ignore[no-untyped-def]
    def run(*words: str):  # type: ignore[no-untyped-def]
        monkeypatch.setattr("sys.argv", ["sgdphase", *words])
        with pytest.raises(SystemExit) as end:
            cli.main()
        out, err = capsys.readouterr()
        return end.value.code, out, err

    return run


def test_train_fc_prints_one_object(sgdphase) -> None:  # type: ignore[no-untyped-def]
    code, out, _ = sgdphase("train", "fc", *TEACHER, *TINY, "--seeds", "2", "--json")
    report = json.loads(out)
    assert code == 0
    assert report["training"]["width"] == 8 and report["training"]["activation"] == "gelu"
    for run in report["runs"]:
        assert run["status"] == "fitted" and run["unfitted"] == 0
        assert set(run) == {
            "seed", "status", "steps", "time", "alignment", "unfitted", "train_error",
            "test_error", "test_error_early", "early_step", "weight_change", "ntk_change",
            "amplification", "first_step",
        }  # fmt: skip
        assert run["test_error_early"] <= run["test_error"]


def test_images_of_the_users_own(sgdphase, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=128)
    x = rng.standard_normal((128, 1, 8, 8)) + y[:, None, None, None]
    np.savez(tmp_path / "mine.npz", x=x, y=y)
    words = (*TINY[:4], "--width", "4", "--lr", "4", "--batch", "8", "--max-steps", "500")
    code, out, _ = sgdphase(
        "train", "mobilenet", "--data", str(tmp_path / "mine.npz"), *words, "--json"
    )
    assert code == 0
    assert json.loads(out)["runs"][0]["status"] == "fitted"


def test_sweep_fc_fills_a_store(sgdphase, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    words = [word for word in TINY if word not in ("--lr", "2", "--batch", "4")]
    store = tmp_path / "fc.sqlite"
    sweep = ("sweep", "fc", *TEACHER, *words, "--lr", "1,4", "--batch", "2,8", "--store",
             str(store), "--workers", "0", "--json")  # fmt: skip
    code, out, _ = sgdphase(*sweep)
    assert (code, json.loads(out)["ran"]) == (0, 4)
    code, out, _ = sgdphase(*sweep)
    assert (code, json.loads(out)["ran"]) == (0, 0)
    table = Store(store).table()
    assert set(table["depth"]) == {2} and set(table["model"]) == {"fc"}
    assert np.isfinite(table["weight_change"]).all()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("train", "fc", "--data", "nothing"), "must be teacher, stripe, sphere, mnist-parity"),
        (("train", "fc", "--train-size", "60000"), "mnist-parity has 70000 images"),
        (
            ("train", "fc", *TEACHER, "--loss", "cubic"),
            "must be hinge, quadratic-hinge, smooth-hinge, square or logistic for fc",
        ),
        (("train", "fc", *TEACHER, "--activation", "sine"), "must be relu, gelu or tanh for fc"),
        (("train", "fc", *TEACHER, *TINY, "--device", "abacus"), "device = 'abacus'"),
        ((*SWEEP, "--device", "abacus"), "device = 'abacus'"),
        ((*SWEEP, "--device", "cpu", "--dask", "tcp://a:1"), "of Dask"),
        (("train", "mobilenet", "--data", "teacher"), "mobilenet learns images"),
        (("train", "fc", "--chi", "1"), "chi = 1.0: mnist-parity has no chi"),
    ],
)
def test_bad_input_is_one_line_and_code_2(  # type: ignore[no-untyped-def]
    sgdphase, monkeypatch, words, said
) -> None:
    monkeypatch.setenv("SGDPHASE_DEVICE", "cpu")  # put back afterwards
    code, out, err = sgdphase(*words)
    assert (code, out) == (2, "")
    assert said in err and err.count("\n") == 1


def test_without_pytorch_the_extra_is_named(tmp_path: Path) -> None:
    (tmp_path / "torch.py").write_text("raise ModuleNotFoundError('no torch', name='torch')")
    path = os.pathsep.join([str(tmp_path), *filter(None, sys.path)])

    def call(*words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-c", "from sgdphase.cli import main; main()", *words],
            capture_output=True, text=True, timeout=60, env=os.environ | {"PYTHONPATH": path},
        )  # fmt: skip

    ended = call("train", "fc", *TEACHER)
    assert ended.returncode == 2
    assert "pip install 'sgdphase[networks]'" in ended.stderr and ended.stderr.count("\n") == 1
    assert call("train", "perceptron", "--train-size", "16", "--dim", "4").returncode == 0
