"""The public surface: no name that is a module too, objects whose `repr` is the answer."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import re
import subprocess
import sys
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from types import ModuleType
from typing import Any
from zipfile import ZipFile

import numpy as np
import pytest

import sgdphase as sp
from sgdphase.diagram import Setting, TrainingRun

PACKAGE = Path(sp.__file__).parent
PACKAGES = ["sgdphase"] + [
    f"sgdphase.{info.name}" for info in pkgutil.iter_modules([str(PACKAGE)]) if info.ispkg
]
MODULES = [info.name for info in pkgutil.walk_packages([str(PACKAGE)], "sgdphase.")]
LAZY = [name for name in PACKAGES if hasattr(importlib.import_module(name), "__all__")]


@pytest.mark.parametrize("name", MODULES)
def test_every_module_is_imported_by_its_name(name: str) -> None:
    """`import a.b as c` reads the attribute `b` of `a`, which a function must not take."""
    importlib.import_module(name)
    parent, _, last = name.rpartition(".")
    assert isinstance(getattr(importlib.import_module(parent), last), ModuleType)


@pytest.mark.parametrize("name", LAZY)
def test_no_public_name_is_a_module_too(name: str) -> None:
    package = importlib.import_module(name)
    held = {info.name for info in pkgutil.iter_modules(package.__path__)}
    for public in package.__all__:
        value = getattr(package, public)
        assert isinstance(value, ModuleType) or public not in held
        assert public in dir(package)
    with pytest.raises(AttributeError, match="has no attribute 'no_such_name'"):
        package.no_such_name  # noqa: B018


@pytest.mark.parametrize("name", LAZY)
def test_every_name_of_a_stub_loads(name: str) -> None:
    package = importlib.import_module(name)
    stub = Path(str(package.__file__)).with_suffix(".pyi").read_text()
    stated = set(re.findall(r"^from .* as (\w+)$", stub, flags=re.MULTILINE))
    assert stated >= set(package.__all__) and all(hasattr(package, each) for each in stated)


def test_names_that_serve_the_package_are_not_listed() -> None:
    assert "seed_means" not in sp.stats.__all__ and callable(sp.stats.seed_means)


def test_a_notebook_has_what_it_needs() -> None:
    names = {"Plan", "Run", "Store", "Summary", "draw", "equivalents", "export", "report", "theory"}
    assert names <= set(sp.__all__)
    assert inspect.isfunction(sp.sweep) and inspect.isfunction(sp.report)


@pytest.fixture(scope="module")
def summary(tmp_path_factory: pytest.TempPathFactory) -> sp.Summary:
    plan = sp.grid(dim=8, train_size=64, lr=[0.5, 1.0, 2.0], batch=[1, 8, 64], seeds=3)
    path = tmp_path_factory.mktemp("surface") / "runs.sqlite"
    return sp.sweep(plan, path, workers=0, trajectories=True)


def objects(summary: sp.Summary) -> list[object]:
    plane = sp.plane_from_table(summary.store.table())
    run = summary.runs[0]
    rng = np.random.default_rng(0)
    runs = [
        TrainingRun(Setting(lr, batch, 5), seed, {"test_error": batch / lr + 0.1 * rng.random()})
        for lr, batch in [(0.1, 8), (0.1, 16), (0.2, 16)]
        for seed in range(5)
    ]
    table = sp.equivalents(runs, lr=0.1, batch=8, epochs=5, metric="test_error")
    plan = sp.Plan(summary.plan)
    return [
        plan, summary, summary.store, run, run.outcome, plane, sp.phase_diagram(plane), table,
        summary.runs, summary.store.table(), *predictions(),
    ]  # fmt: skip


def predictions() -> list[object]:
    model = {"chi": 1.0, "dim": 8, "margin": 1.0, "temperature": 1.0}
    times = np.geomspace(0.1, 1e3, 50)
    return [
        sp.constants(1.0),
        sp.scales(train_size=64, dim=8, chi=1.0, margin=1.0),
        sp.first_step(lr=1.0, batch=4, dim=8, chi=1.0),
        sp.averages(times, 1.0, chi=1.0),
        sp.asymptotic(times, chi=1.0, dim=8, temperature=1.0),
        sp.asymptotic_fluctuations(1.0),
        sp.online(times, **model),  # type: ignore[arg-type]
        sp.fluctuations(times, **model),  # type: ignore[arg-type]
        sp.online_ensemble(times, **model, size=2, seed=0),  # type: ignore[arg-type]
    ]


class Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_what_is_shown_fits_a_screen_and_is_html(summary: sp.Summary) -> None:
    for each in objects(summary):
        text = repr(each)
        assert len(text) < 2000 and len(text.splitlines()) <= 40, type(each)
        assert max(map(len, text.splitlines())) <= 200 and "object at 0x" not in text
        tags = Tags()
        tags.feed(each._repr_html_())  # type: ignore[attr-defined]
        assert not tags.open


def test_results_of_figures_are_shown_and_are_tables(summary: sp.Summary) -> None:
    runs = sp.paper.Runs(tuple(summary.runs))
    slope = sp.paper.Exponent("1", "w1 ~ lr", "w1", of="lr", equals=1)
    claims = sp.paper.Claims([slope.decide(runs)])
    for each in (runs, claims, claims[0], sp.paper.FIGURES["fig4a"]):
        assert 0 < len(repr(each)) < 2000 and each._repr_html_().startswith("<p>")
    assert repr(sp.paper.FIGURES).startswith(f"{len(sp.paper.FIGURES)} figures: fig1a, ")
    pytest.importorskip("pandas")
    assert len(runs.to_pandas()) == 27 and claims.to_pandas()["id"].tolist() == ["1"]


def test_tables_are_data_frames(summary: sp.Summary) -> None:
    pytest.importorskip("pandas")
    plan, swept, store, run, outcome, plane, diagram, table, runs, columns, *theory = (
        each.to_pandas()  # type: ignore[attr-defined]
        for each in objects(summary)
    )
    assert runs.equals(swept) and columns.equals(store)
    assert [len(each) for each in theory] == [10, 10, 2, 50, 50, 3, 50, 50, 100]
    assert len(plan) == len(swept) == len(store) == len(plane) == 27 and len(diagram) == 9
    assert plan["batch"].tolist() == swept["batch"].tolist()
    assert run.equals(outcome) and run["time"].is_monotonic_increasing
    assert table["batch"].tolist() == [8, 16] and table["lr_low"].iloc[0] == 0.1
    assert plane["alignment"].mean() == pytest.approx(store["alignment"].mean())


def test_runs_of_a_sweep_outlive_its_store(tmp_path: Path) -> None:
    plan = sp.grid(dim=8, train_size=32, lr=[0.5, 1.0], batch=1)
    path = tmp_path / "runs.sqlite"
    swept = sp.sweep(plan, path, workers=0)
    drawn = sp.sweep(plan, path, workers=0, trajectories=True)
    path.unlink()
    assert [run.training for run in swept.runs] == list(plan)
    with pytest.raises(sp.InputError, match="there is no store"):
        drawn.runs  # noqa: B018


def test_without_pandas_the_extra_is_named() -> None:
    code = (
        "import sys; sys.modules['pandas'] = None\n"
        "import sgdphase as sp\n"
        "try: sp.grid(lr=1.0, batch=1).to_pandas()\n"
        "except sp.InputError as error: print(error)"
    )
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert said.stdout == "pandas is not installed: pip install 'sgdphase[export]'\n"


def test_numbers_show_their_intervals() -> None:
    assert repr(sp.Estimate(52.83, 39.6, 71.0)) == "52.8 [39.6, 71]"
    law = sp.power_law([1, 2, 4, 8], [1.0, 2.1, 3.9, 8.2])
    assert re.fullmatch(r"y = a x\^b with b = 1 \[.*\], a = .* for x from 1 to 8", repr(law))


def test_what_is_shown_is_escaped(tmp_path: Path) -> None:
    shown = sp.Store(tmp_path / "<b>.sqlite")._repr_html_()
    assert "&lt;b&gt;" in shown and "<b>" not in shown


def test_a_report_is_a_page_of_a_store(summary: sp.Summary, tmp_path: Path) -> None:
    page = sp.report(summary.store, tmp_path / "page.html", chi=1.0)
    assert page == tmp_path / "page.html" and "noise-dominated" in page.read_text()


def test_the_package_may_be_inside_a_zip_file(tmp_path: Path) -> None:
    with ZipFile(tmp_path / "package.zip", "w") as archive:
        for path in PACKAGE.rglob("*.py*"):
            if path.suffix in (".py", ".pyi"):
                archive.write(path, path.relative_to(PACKAGE.parent))
    code = (
        "import sys; sys.path.insert(0, 'package.zip')\n"
        "import sgdphase as sp; print('package.zip' in sp.__file__, 'sweep' in sp.__all__)\n"
        "print(sp.theory.constants(1.0).gamma, round(sp.averages(0.0, 0.0, 1.0).unfitted, 9))"
    )
    said = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=120, cwd=tmp_path
    )
    assert said.stdout == "True True\n0.5 0.5\n", said.stderr


def test_two_threads_may_load_names_at_once() -> None:
    code = """
import threading
import sgdphase as sp
failed = []
def load(name):
    try:
        getattr(sp, name)
    except BaseException as error:
        failed.append((name, repr(error)))
threads = [threading.Thread(target=load, args=(name,)) for name in ("sweep", "scales", "draw")]
for thread in threads: thread.start()
for thread in threads: thread.join()
print(failed, [name for name in sp.__all__ if getattr(sp, name) is None])
"""
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert said.stdout == "[] []\n", said.stderr


TASK = sp.TeacherTask(dim=8)
DATA = TASK.train_set(8, seed=0)
MODEL = {"chi": 1.0, "dim": 8, "margin": 1.0, "temperature": 1.0}
WRONG: dict[str, Callable[[Any], object]] = {
    "training = 3: must be a Training": lambda folder: sp.train(wrong(3)),
    "a training of the plan = 1: must be": lambda folder: sp.sweep(wrong([1, 2]), folder / "a"),
    "plan = 3: must be a plan": lambda folder: sp.sweep(wrong(3), folder / "a"),
    "store = Plan of 1 training.*: must be": lambda folder: sp.sweep(wrong("a"), wrong(a_plan())),
    "plan = Store.*: must be": lambda folder: sp.sweep(wrong(sp.Store(folder / "a")), "b"),
    "diagram = Store.*: must be": lambda folder: sp.draw(wrong(sp.Store(folder / "a")), "a.png"),
    "runs = 3: must be": lambda folder: sp.phase_diagram(wrong(3)),
    "store = 3: must be": lambda folder: sp.export(wrong(3), "a.csv"),
    r"points = Dataset.*: must be Points, which `Points.of\(": lambda folder: sp.simulate_sgd(
        wrong(DATA), margin=1.0, lr=1.0, batch=1
    ),
    "dim = '8': must be an integer": lambda folder: sp.TeacherTask(dim=wrong("8")),
    "chi = 'a': must be": lambda folder: sp.constants(wrong("a")),
    "times = 'a': must be": lambda folder: sp.online("a", **wrong(MODEL)),
    "lam = 'a': must be": lambda folder: sp.averages("a", 1.0, 1.0),
    "lr = '1': must be": lambda folder: sp.first_step(lr=wrong("1"), batch=1, dim=8, chi=1.0),
    "lr = 'a': must be a finite": lambda folder: sp.Training(TASK, 16, wrong("a"), 1),
    "batch = '1': must be an integer": lambda folder: sp.Training(TASK, 16, 1.0, wrong("1")),
    "problem = 'teacher': must be": lambda folder: sp.Training(wrong("teacher"), 16, 1.0, 1),
    "status = 'fited': must be fitted, ": lambda folder: sp.Outcome(wrong("fited"), 1, 1.0, {}),
}


def wrong(value: Any) -> Any:
    """What a type checker would refuse."""
    return value


def a_plan() -> sp.Plan:
    return sp.grid(dim=8, train_size=16, lr=1.0, batch=1)


@pytest.mark.parametrize("said", WRONG)
def test_a_wrong_argument_is_refused_in_one_line(said: str, tmp_path: Path) -> None:
    with pytest.raises(sp.InputError, match=f"^{said}") as error:
        WRONG[said](tmp_path)
    assert "\n" not in str(error.value) and not list(tmp_path.iterdir())


def test_a_training_is_shown_by_what_was_given() -> None:
    training = sp.Training(TASK, 16, 1.0, 1, model="fc", width=7, max_time=2.0)
    shown = "Training(TeacherTask(dim=8, chi=1.0, direction='axis'), train_size=16, lr=1.0, batch=1"
    assert repr(training) == f"{shown}, model='fc', width=7, max_time=2.0)"
    assert eval(repr(training), {name: getattr(sp, name) for name in sp.__all__}) == training
    points = sp.Points.of(DATA)
    for each in (DATA, points, sp.simulate_sgd(points, margin=0.1, lr=0.5, batch=1)):
        assert "float64 [8" in repr(each) and len(repr(each)) < 150
