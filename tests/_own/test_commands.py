"""A training that is a command: what it is given, what becomes of it, when it is run again."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest

import sgdphase as sp
from sgdphase._own import UserCommand
from sgdphase._sweep.run import run
from sgdphase.errors import InputError, UserError

# Writes its arguments, and where it is.
SCRIPT = """
import json, os, sys
json.dump({"words": sys.argv[1:], "here": os.getcwd(), "m": float(sys.argv[1]),
           "environment": dict(os.environ)}, open("m.json", "w"))
"""
ECHO = r"x=stdout:loss (\S+)"


@pytest.fixture(autouse=True)
def start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory of the user's, with a space and a quote in its name."""
    place = tmp_path / "it's here"
    place.mkdir()
    monkeypatch.chdir(place)
    (place / "train.py").write_text(SCRIPT)
    return place


def training(command: UserCommand, **fields: Any) -> sp.Training:
    plan = sp.grid(command, **({"lr": 0.5, "batch": 4} | fields))
    return plan[0]


def shell(text: str, metrics: str = ECHO, **options: Any) -> sp.Training:
    return training(sp.command(f"{text} # {{lr}} {{batch}}", metrics, shell=True, **options))


def words(command: str, **options: Any) -> list[str]:
    """What a script gets."""
    told = sp.command(f"python3 train.py {{lr}} {{batch}} {command}", "m=json:m.json", **options)
    folder = Path("folder of runs")
    assert sp.train(training(told)).status == "finished"
    from sgdphase._own.commands import train

    train(training(told), folder=folder)
    result: list[str] = json.loads((folder / "m.json").read_text())["words"]
    return result[2:]


def test_placeholders_are_single_words(start: Path) -> None:
    out = str(start / "folder of runs")
    assert words("--out {out} --out={out}/x") == ["--out", out, f"--out={out}/x"]
    assert words("'{start}' \"a b\" 'it\"s'") == [str(start), "a b", 'it"s']
    assert words("""'{{"a": [1]}}' '$HOME *'""") == ['{"a": [1]}', "$HOME *"]
    assert words("train.py data") == [str(start / "train.py"), "data"]


def test_a_line_may_be_continued() -> None:
    """As pages print it: a quoted command over several lines, each but the last ending in `\\`."""
    assert words("--a 1 \\\n    --b 2\n --c") == ["--a", "1", "--b", "2", "--c"]


def test_a_shell_gets_quoted_values(start: Path) -> None:
    told = sp.command(
        "cd {start} && python3 train.py {lr} {batch} {out}/x && mv m.json {out}",
        "m=json:m.json", shell=True,
    )  # fmt: skip
    outcome = sp.train(training(told))
    assert outcome["m"] == 0.5 and not (start / "m.json").exists()
    # The script that a shell's command names counts, too.
    assert sp.command("python3 {start}/train.py {lr} {batch}", ECHO, shell=True).depends


def test_without_a_shell_nothing_is_expanded() -> None:
    told = sp.command("echo loss {lr} {batch}; exit 3 | cat > x", ECHO)
    assert sp.train(training(told))["x"] == 0.5


def test_it_works_in_its_own_folder_and_finds_modules(start: Path, tmp_path: Path) -> None:
    (start / "beside.py").write_text("loss = 7")
    told = sp.command("python3 -c 'import beside; print(\"loss\", beside.loss)' {lr} {batch}", ECHO)
    summary = sp.sweep([training(told)], tmp_path / "runs.sqlite", workers=0)
    assert summary.runs[0].outcome["x"] == 7
    (folder,) = (tmp_path / "runs.sqlite-runs").iterdir()
    assert folder.name.startswith("batch4-lr0.5-seed0-")
    assert sorted(each.name for each in folder.iterdir()) == [
        "command.txt", "stderr.txt", "stdout.txt",
    ]  # fmt: skip
    assert (folder / "stdout.txt").read_text() == "loss 7\n"


def test_epochs_seed_and_size_are_given() -> None:
    told = sp.command("echo loss {epochs}{seed}{train_size} {lr} {batch}", ECHO)
    plan = sp.grid(told, lr=0.5, batch=4, epochs=[2, 3], seeds=[5], train_size=64)
    assert [sp.train(each)["x"] for each in plan] == [2564.0, 3564.0]
    with pytest.raises(InputError, match="batch = 65: must be an integer from 1 to the train size"):
        sp.grid(told, lr=0.5, batch=65, epochs=1, train_size=64)
    with pytest.raises(InputError, match=r"the command has \{epochs\}: give --epochs"):
        sp.grid(told, lr=0.5, batch=4, train_size=64)
    with pytest.raises(InputError, match=r"the command has \{train_size\}: give --train-size"):
        sp.grid(told, lr=0.5, batch=4, epochs=1)
    with pytest.raises(InputError, match=r"epochs = 3: the command has no \{epochs\}"):
        sp.grid(sp.command("echo {lr} {batch}", ECHO), lr=0.5, batch=4, epochs=3)


@pytest.mark.parametrize("value", ["nan", "inf", "-Infinity"])
def test_what_is_not_finite_has_diverged(value: str) -> None:
    outcome = sp.train(shell(f"echo loss {value}"))
    assert outcome.status == "diverged" and math.isnan(outcome["x"])


def test_steps_are_no_metric() -> None:
    told = sp.command("echo loss {lr} steps 12 {batch}", [ECHO, r"steps=stdout:steps (\d+)"])
    outcome = sp.train(training(told))
    assert outcome.steps == 12 and list(outcome.observables) == ["x"]


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("echo no >&2; exit 3", r"ended with exit code 3; .*stderr.txt ends: no"),
        ("seq 9; exit 1", r"exit code 1; .*stdout.txt ends: 6 \| 7 \| 8 \| 9$"),
        ("exit 1", "exit code 1, and printed nothing"),
        ("kill -SEGV $$", "was ended by SIGSEGV, and printed nothing"),
        ("kill -KILL $$", r"was ended by SIGKILL \(out of memory\?\)"),
        ("cat lost.txt", r"No such file or directory; it works in a folder of its own"),
        ("true", "the command printed nothing"),
    ],
)
def test_how_a_command_fails_is_named(text: str, what: str) -> None:
    with pytest.raises(UserError, match=what) as error:
        sp.train(shell(text))
    assert "\n" not in str(error.value)


def test_a_hanging_command_fails_after_its_time_out() -> None:
    hanging = shell("echo working; sleep 1000", timeout="0.3s")
    held = run(hanging)
    assert held.outcome.status == "failed" and held.seconds < 60
    assert "did not end within the time-out of less than 1 s; " in held.traceback
    assert "stdout.txt ends: working" in held.traceback


def test_what_cannot_be_run_is_refused_before_the_sweep(start: Path) -> None:
    for text, what in {
        "no-such-program {lr} {batch}": "'no-such-program': command not found",
        "./train.py {lr} {batch}": r"'./train.py': is not executable \(chmod \+x ./train.py",
        "python3 lost.py {lr} {batch}": "'lost.py': there is no such file in",
    }.items():
        with pytest.raises(InputError, match=what):
            sp.sweep([training(sp.command(text, ECHO))], "runs.sqlite", workers=0)
        assert not Path("runs.sqlite-runs").exists()


def test_its_identity_is_its_text_its_metrics_and_its_files(start: Path) -> None:
    (start / "conf").mkdir()
    (start / "conf" / "a.yaml").write_text("a: 1")
    text = "python3 train.py {lr} {batch}"

    def key(template: str = text, metrics: str = "m=json:m.json", **options: Any) -> str:
        return training(sp.command(template, metrics, **options)).key

    first, with_conf = key(), key(depends=["conf/"])
    assert key() == first == key(timeout="5m")
    others = [key(f"{text} -v"), key(metrics="m=json:n.json"), key(shell=True), with_conf]
    assert len({first, *others}) == 5
    (start / "conf" / "a.yaml").write_text("a: 2")
    assert key(depends=["conf"]) != with_conf and key() == first
    (start / "conf" / "a.yaml").write_text("a: 1")
    (start / "conf" / "__pycache__").mkdir()
    (start / "conf" / "runs.sqlite").write_text("x")
    assert key(depends=["conf"]) == with_conf
    (start / "train.py").write_text(SCRIPT + "\n")
    assert key() != first
    with pytest.raises(InputError, match=r"depends = 'lost\.py': no such file or folder in"):
        key(depends=["lost.py"])


def test_identities_stay(start: Path) -> None:
    """Stores keep their runs as long as these do not change."""
    (start / "train.py").write_text("print(1)\n")
    told = sp.command("python3 train.py {lr} {batch}", ["a=json:m.json", "b=json:m.json"])
    assert told.digest == "7358c1718fc4253b3d6af9c67a491c80771f9f3c04a4412389a885aa4785cc6b"
    assert training(told).key == "3fccf344e83092f839ee272e3c6e5083"


def test_a_change_of_its_files_makes_it_run_again(start: Path) -> None:
    def swept() -> tuple[int, int]:
        told = sp.command("python3 train.py {lr} {batch}", "m=json:m.json", depends=["more.txt"])
        summary = sp.sweep([training(told)], "runs.sqlite", workers=0)
        return summary.done_before, summary.ran

    (start / "more.txt").write_text("1")
    assert [swept(), swept()] == [(0, 1), (1, 0)]
    (start / "more.txt").write_text("2")
    assert [swept(), swept()] == [(0, 1), (1, 0)]
    (start / "more.txt").write_text("1")
    assert swept() == (1, 0)


def test_a_change_while_it_runs_is_no_result(start: Path) -> None:
    (start / "train.sh").write_text("echo loss 1; echo '# more' >> \"$0\"")
    told = sp.command("sh train.sh {lr} {batch}", ECHO)
    with pytest.raises(UserError, match=r"train\.sh changed while the command ran"):
        sp.train(training(told))
    with pytest.raises(InputError, match=r"has changed: train\.sh"):
        told.prepare()


def test_parallel_runs_do_not_collide(tmp_path: Path) -> None:
    told = sp.command(
        "echo {lr} > file; sleep 0.2; echo loss $(cat file) {batch}", ECHO, shell=True
    )
    plan = sp.grid(told, lr=[0.5, 1.0, 2.0, 4.0], batch=4)
    runs = sp.sweep(plan, tmp_path / "runs.sqlite", workers=2).runs
    assert [each.outcome["x"] for each in runs] == [0.5, 1.0, 2.0, 4.0]


def test_a_run_that_is_made_again_starts_in_an_empty_folder(tmp_path: Path) -> None:
    text = "[ -e left ] && exit 9; touch left; echo loss {lr} {batch}; exit 1"
    plan = [training(sp.command(text, ECHO, shell=True))]
    for _ in range(2):
        summary = sp.sweep(plan, tmp_path / "runs.sqlite", workers=0, retry=["failed"])
        assert "exit code 1;" in summary.runs[0].traceback


def test_tables_have_what_a_command_has(tmp_path: Path) -> None:
    told = sp.command("echo loss {lr} {batch}", ECHO)
    plan = sp.grid(told, lr=[0.5, 1.0], batch=4, seeds=2)
    store = sp.sweep(plan, tmp_path / "runs.sqlite", workers=0).store
    table = store.table()
    assert not {"margin", "train_size", "momentum"} & set(table)
    assert table["x"].tolist() == table["lr"].tolist()
    assert store.runs()[0].training.problem == told
    sp.export(store, tmp_path / "runs.csv")
    plane = sp.plane_from_table(table, observable="x")
    assert plane.value.shape == (2, 1, 2)


def test_threads_are_the_share_of_a_worker(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    told = sp.command("echo loss $OMP_NUM_THREADS {lr} {batch}", ECHO, shell=True)
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    (run_,) = sp.sweep([training(told)], tmp_path / "runs.sqlite", workers=1).runs
    assert run_.outcome["x"] == 3


def test_a_command_needs_its_own_record() -> None:
    with pytest.raises(InputError, match="model command wants"):
        sp.train(sp.Training(sp.TeacherTask(), 64, 1.0, 4, model="command"))
