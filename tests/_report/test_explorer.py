"""The explorer in a real browser, from a file and without a network.

What a page computes is compared with the package: the process by two-sample tests over seeds, the
theory to 1e-6, the regimes and boundaries of a table of runs to rounding.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sgdphase import theory
from sgdphase._report import explorer_page
from sgdphase._report.bundle import bundle
from sgdphase._report.plane_data import read_table, table_plane
from sgdphase.diagram import phase_diagram
from sgdphase.errors import InputError

RUNS = Path(__file__).parents[2] / "docs/gallery/runs/fig1a.csv.gz"
STORED = Path(__file__).parents[2] / "src/sgdphase/_report/explorer/fig1a.json"
CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome")
SETTING = {"size": 256, "dim": 16, "chi": 1.0, "margin": 2.0**-7}
# lr and batch in each regime of that setting (B* = 14, T_c = 0.025).
REGIMES = {"noise": (4.0, 2), "first step": (32.0, 128), "GD": (0.0625, 16), "full batch": (0.5, 256)}
SEEDS = 200


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    playwright = pytest.importorskip(
        "playwright.sync_api", reason="playwright is not installed: pip install playwright"
    )
    if CHROMIUM is None:
        pytest.skip("there is no browser: apt-get install chromium")
    with playwright.sync_playwright() as driver:
        started = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield started
        started.close()


@pytest.fixture(scope="module")
def page_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return explorer_page(tmp_path_factory.mktemp("explorer") / "explorer.html")


class Visit:
    """An open page, with what went wrong in it: errors, and requests beyond the file."""

    def __init__(self, browser: Any, file: Path, fragment: str = "", **look: Any) -> None:
        self.context = browser.new_context(**{"viewport": {"width": 1300, "height": 900}, **look})
        self.page = self.context.new_page()
        self.wrong: list[str] = []
        self.page.on("pageerror", lambda error: self.wrong.append(str(error)))
        self.page.on(
            "console", lambda m: self.wrong.append(m.text) if m.type == "error" else None
        )
        self.page.route(
            "**/*",
            lambda route: (
                route.continue_() if route.request.url.startswith(("file:", "blob:")) else
                (self.wrong.append(route.request.url), route.abort())
            ),
        )
        self.page.goto(f"{file.as_uri()}{fragment}")

    def __enter__(self) -> Visit:
        return self

    def __exit__(self, *error: object) -> None:
        self.context.close()
        if error[0] is None:
            assert self.wrong == []

    def text(self, selector: str) -> str:
        return str(self.page.locator(selector).inner_text())

    def wait(self, expression: str) -> None:
        self.page.wait_for_function(expression, timeout=20_000)


@pytest.fixture(scope="module")
def modules(browser: Any) -> Iterator[Any]:
    """A blank page with functions of the modules, to call them by name."""
    page = browser.new_page()
    names = ("simulate", "theory", "online", "phases", "own", "rng", "teacher", "state")
    program = bundle("app").replace('if (typeof document === "undefined") serve(self);', "")
    program = program.replace("else startPage();", "")
    exported = ", ".join(f"{name}: ${name}" for name in names)
    page.add_script_tag(content=f"{{ {program}\n window.modules = {{ {exported} }}; }}")
    yield page
    page.close()


def test_stored_plane_is_that_of_the_table() -> None:
    """Made again from the 1610 runs, the data file is the same, to the last digit."""
    made = table_plane(read_table(RUNS), "fig1a")
    assert made == json.loads(STORED.read_text())
    assert sum(made["runs"]) == 1610
    whole = phase_diagram(read_table(RUNS))
    assert whole.critical_batch is not None
    assert made["lines"]["criticalBatch"]["value"] == whole.critical_batch.value


def test_page_is_one_small_file(page_file: Path) -> None:
    content = page_file.read_text()
    assert len(content.encode()) < 400_000
    assert "{{" not in content.split('<script type="application/json"')[0]
    assert "http://" not in content.replace("http://www.w3.org/2000/svg", "")
    assert "https://" not in content


def test_wrong_input(tmp_path: Path) -> None:
    other = tmp_path / "other.json"
    other.write_text("[1]")
    with pytest.raises(InputError, match=r"other.json: must be what `sgdphase diagnose --json`"):
        explorer_page(tmp_path / "e.html", other)
    with pytest.raises(InputError, match="no such file"):
        explorer_page(tmp_path / "e.html", tmp_path / "none.sqlite")
    with pytest.raises(InputError, match=r"must end in \.html"):
        explorer_page(tmp_path / "e.txt")


@pytest.mark.parametrize("regime", REGIMES)
def test_trainings_have_the_distribution_of_the_package(modules: Any, regime: str) -> None:
    """Final weights and steps over 200 seeds, by Kolmogorov and Smirnov's two-sample test.

    A batch drawn with replacement, a margin that is off by its sqrt(d), or a step that counts when
    nothing changes fails it.
    """
    from scipy.stats import ks_2samp

    from sgdphase.perceptron import Points, simulate_sgd
    from sgdphase.problems import TeacherTask

    lr, batch = REGIMES[regime]
    given = SETTING | {"lr": lr, "batch": batch}
    ours = modules.evaluate(
        """([given, seeds]) => Array.from({ length: seeds }, (_, seed) => {
            const run = modules.simulate.trainCell({ ...given, seed });
            return [run.w1, run.wPerp, run.steps, run.status === "fitted" ? 1 : 0];
        })""",
        [given, SEEDS],
    )
    task = TeacherTask(dim=SETTING["dim"], chi=SETTING["chi"])  # type: ignore[arg-type]
    theirs = []
    for seed in range(SEEDS):
        points = Points.of(task.train_set(SETTING["size"], seed))  # type: ignore[arg-type]
        run = simulate_sgd(points, margin=SETTING["margin"], lr=lr, batch=batch, seed=seed)
        theirs.append([run.w[0], np.linalg.norm(run.w[1:]), run.steps, 1])
    for column, name in enumerate(("w1", "w_perp", "steps")):
        a, b = np.array(ours)[:, column], np.array(theirs)[:, column]
        assert ks_2samp(a, b).pvalue > 1e-3, f"{regime}: {name} {a.mean()} {b.mean()}"
    assert all(row[3] == 1 for row in ours)


def test_momentum_has_the_distribution_of_the_package(modules: Any) -> None:
    from scipy.stats import ks_2samp

    from sgdphase.perceptron import Points, simulate_sgd
    from sgdphase.problems import TeacherTask

    given = SETTING | {"lr": 1.0, "batch": 4, "momentum": 0.8}
    ours = modules.evaluate(
        """([given, seeds]) => Array.from({ length: seeds }, (_, seed) => {
            const run = modules.simulate.trainCell({ ...given, seed });
            return [run.w1, run.wPerp, run.steps];
        })""",
        [given, SEEDS],
    )
    task = TeacherTask(dim=16, chi=1.0)
    theirs = []
    for seed in range(SEEDS):
        points = Points.of(task.train_set(256, seed))
        run = simulate_sgd(points, margin=2.0**-7, lr=1.0, batch=4, momentum=0.8, seed=seed)
        theirs.append([run.w[0], np.linalg.norm(run.w[1:]), run.steps])
    for column in range(3):
        assert ks_2samp(np.array(ours)[:, column], np.array(theirs)[:, column]).pvalue > 1e-3


@pytest.mark.parametrize("chi", [-0.5, 0.0, 1.0, 3.0])
def test_points_have_the_density_of_the_task(modules: Any, chi: float) -> None:
    from scipy.stats import chi as chi_distribution
    from scipy.stats import kstest

    z = modules.evaluate(
        """chi => Array.from(modules.teacher.teacherPoints(
               { size: 4000, dim: 2, chi, seed: 5, use: 1 }))""",
        chi,
    )
    first, second = np.array(z).reshape(-1, 2).T
    assert kstest(first, chi_distribution(1 + chi).cdf).pvalue > 1e-3
    assert kstest(second, "norm").pvalue > 1e-3


@pytest.mark.parametrize("chi", [0.0, 0.75, 1.0, 3.0, 4.0])
def test_scales_are_those_of_the_theory(modules: Any, chi: float) -> None:
    for size, dim, margin in ((1024, 32, 2**-7), (64, 128, 0.25), (8192, 128, 2**-10)):
        given = {"size": size, "dim": dim, "chi": chi, "margin": margin}
        ours = modules.evaluate("given => modules.theory.scales(given)", given)
        exact = theory.scales(train_size=size, dim=dim, chi=chi, margin=margin)
        names = {"criticalBatch": "critical_batch", "criticalTemperature": "critical_temperature",
                 "crossoverTime": "crossover_time", "firstStepLr": "first_step_lr", "lam": "lam",
                 "unfitted": "unfitted"}  # fmt: skip
        for name, other in names.items():
            assert ours[name] == pytest.approx(getattr(exact, other), rel=1e-6)


@pytest.mark.parametrize(
    "setting", [(32, 1.0, 2**-7, 1.0), (32, 0.0, 2**-7, 64.0), (128, 3.0, 2**-4, 2**-6)]
)
def test_online_solution_is_that_of_the_theory(modules: Any, setting: tuple[Any, ...]) -> None:
    dim, chi, margin, temperature = setting
    given = {"dim": dim, "chi": chi, "margin": margin, "temperature": temperature}
    times = [1e-3, 1.0, 100.0, 1e4, 1e6]
    ours = modules.evaluate(
        """([times, given]) => modules.online.online(times, given).map(([w1, wPerp]) =>
               [w1, wPerp, modules.online.unfittedFraction(w1, wPerp, given)])""",
        [times, given],
    )
    exact = theory.online(times, dim=dim, chi=chi, margin=margin, temperature=temperature)
    expected = np.stack([exact.w1, exact.w_perp, exact.unfitted], axis=1)
    np.testing.assert_allclose(ours, expected, rtol=1e-6)


def test_phases_of_a_table_are_those_of_the_package(modules: Any) -> None:
    """A dropped CSV has the B* and the GD line of `phase_diagram`, and its regimes where clear."""
    table = read_table(RUNS)
    names = ("lr", "batch", "seed", "status", "alignment", "test_error", "steps")
    rows = zip(*(table[name].tolist() for name in names), strict=True)
    csv = "\n".join([",".join(names), *(",".join(map(str, row)) for row in rows)])
    read = modules.evaluate("csv => modules.own.readOwn(csv, 'runs.csv').planes[0]", csv)
    exact = phase_diagram(table)
    assert exact.critical_batch is not None
    assert read["lines"]["criticalBatch"]["value"] == pytest.approx(exact.critical_batch.value)
    ours = [(p["batch"], p["lr"]) for p in read["lines"]["gdLine"]]
    np.testing.assert_allclose(ours, [(p.batch, p.lr.value) for p in exact.gd_line], rtol=1e-9)
    for cell, theirs in zip(sum(read["cells"], []), exact.cells, strict=True):
        assert cell["value"] == pytest.approx(theirs.value)
        assert theirs.regime in ("unclear", cell["regime"])
