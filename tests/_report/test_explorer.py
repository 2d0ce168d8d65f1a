"""The explorer in a real browser, from a file and without a network.

What a page computes is compared with the package: the process by two-sample tests over seeds, the
theory to 1e-6, the regimes and boundaries of a table of runs to rounding.
"""

from __future__ import annotations

import json
import re
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

DOCS = Path(__file__).parents[2] / "docs"
RUNS = DOCS / "gallery/runs/fig1a.csv.gz"
STORED = Path(__file__).parents[2] / "src/sgdphase/_report/explorer/fig1a.json"
CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome")
SETTING = {"size": 256, "dim": 16, "chi": 1.0, "margin": 2.0**-7}
# lr and batch in each regime of that setting (B* = 14, T_c = 0.025).
REGIMES = {
    "noise": (4.0, 2),
    "first step": (32.0, 128),
    "GD": (0.0625, 16),
    "full batch": (0.5, 256),
}
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
        self.page.on("console", lambda m: self.wrong.append(m.text) if m.type == "error" else None)
        self.page.route(
            "**/*",
            lambda route: (
                route.continue_()
                if route.request.url.startswith(("file:", "blob:"))
                else (self.wrong.append(route.request.url), route.abort())
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
        """Until an expression is true; the page's policy forbids playwright's own way to wait."""
        for _ in range(400):
            if self.page.evaluate(expression):
                return
            self.page.wait_for_timeout(50)
        raise AssertionError(f"not true after 20 s: {expression}")


@pytest.fixture(scope="module")
def modules(browser: Any) -> Iterator[Any]:
    """A blank page with functions of the modules, to call them by name."""
    page = browser.new_page()
    names = ("simulate", "theory", "online", "phases", "own", "collapse", "teacher")
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
    assert "http://" not in content and "https://" not in content


def test_page_in_docs_is_current(page_file: Path) -> None:
    """Otherwise: sgdphase explore --out docs/explorer.html."""
    texts = [path.read_text() for path in (page_file, DOCS / "explorer.html")]
    made, kept = (re.sub(r"Made by sgdphase[^<]*", "", text) for text in texts)
    assert made == kept


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

    Batches drawn with replacement fail it (in the first-step regime), and so do a margin without
    its sqrt(d) (in GD) and points whose density has another exponent (in all regimes).
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


def test_crossover_time_has_the_distribution_of_the_package(modules: Any) -> None:
    """`t_hat` of noise-dominated trainings; with a third instead of a half it fails."""
    from scipy.stats import ks_2samp

    from sgdphase.perceptron import Points, simulate_sgd
    from sgdphase.perceptron._observe import crossover_time
    from sgdphase.problems import TeacherTask

    lr, batch = REGIMES["noise"]
    ours = modules.evaluate(
        """([given, seeds]) => Array.from({ length: seeds }, (_, seed) =>
               modules.simulate.crossoverTime(modules.simulate.trace({ ...given, seed }).path))""",
        [SETTING | {"lr": lr, "batch": batch}, SEEDS],
    )
    theirs = []
    for seed in range(SEEDS):
        points = Points.of(TeacherTask(dim=16, chi=1.0).train_set(256, seed))
        run = simulate_sgd(points, margin=2.0**-7, lr=lr, batch=batch, seed=seed)
        theirs.append(crossover_time(run, points, chi=1.0, margin=2.0**-7, lr=lr))
    known = [np.array([t for t in some if t is not None and t == t]) for some in (ours, theirs)]
    assert min(map(len, known)) > 0.8 * SEEDS
    assert ks_2samp(*known).pvalue > 1e-3


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
    cells = [cell for row in read["cells"] for cell in row]
    ours = [(p["batch"], p["lr"]) for p in read["lines"]["gdLine"]]
    star = read["lines"]["criticalBatch"]
    # Student's interval over seeds; the package adds the scatter of the cells about the laws.
    width = np.log(star["high"] / star["low"])
    assert star["low"] < star["value"] < star["high"]
    assert 0.2 < width / np.log(exact.critical_batch.high / exact.critical_batch.low) < 1.5
    np.testing.assert_allclose(ours, [(p.batch, p.lr.value) for p in exact.gd_line], rtol=1e-9)
    for cell, theirs in zip(cells, exact.cells, strict=True):
        assert cell["value"] == pytest.approx(theirs.value)
        assert theirs.regime in ("unclear", cell["regime"])


def test_opens_with_the_stored_plane(browser: Any, page_file: Path) -> None:
    with Visit(browser, page_file) as visit:
        assert "Noise-dominated" in visit.text("#readout")
        assert "278 [263, 292]" in visit.text("#scales")
        # The same cursor in both planes.
        box = visit.page.locator("#plane-error .holder > svg").bounding_box()
        visit.page.mouse.move(box["x"] + 0.8 * box["width"], box["y"] + 0.75 * box["height"])
        visit.wait("document.querySelector('#readout').innerText.includes('gradient descent')")
        at = [
            visit.page.locator(f"#plane-{name} rect.cursor").first.get_attribute("x")
            for name in ("value", "error")
        ]
        assert at[0] == at[1]


def test_click_trains_and_drag_follows_rows_and_diagonals(browser: Any, page_file: Path) -> None:
    with Visit(browser, page_file, "#plane=live&runs=") as visit:
        page = visit.page
        assert "click a cell" in page.locator("#trajectory").text_content()
        box = page.locator("#plane-value .holder > svg").bounding_box()

        def at(x: float, y: float) -> tuple[float, float]:
            return box["x"] + x * box["width"], box["y"] + y * box["height"]

        page.mouse.click(*at(0.3, 0.3))
        visit.wait("document.querySelector('#chips').innerText.includes('steps')")
        assert page.locator("#trajectory circle.first").count() == 1
        assert page.locator("#trajectory polygon.last").count() == 1
        assert page.locator("#trajectory path.online").count() == 1
        for end, kind in (((0.7, 0.31), "Same lr:"), ((0.5, 0.13), "Same lr/batch:")):
            page.mouse.move(*at(0.3, 0.3))
            page.mouse.down()
            page.mouse.move(*at(*end), steps=8)
            page.mouse.up()
            visit.wait(f"document.querySelector('#live-note').innerText.startsWith('{kind}')")
            assert page.locator("#chips li").count() >= 3


def test_sliders_move_the_theory_and_refill_the_plane(browser: Any, page_file: Path) -> None:
    with Visit(browser, page_file, "#runs=") as visit:
        for chi in (0.0, 3.0):
            visit.page.locator("#slider-chi").fill(str(chi))
            visit.page.locator("#slider-size").fill("8")
            expected = theory.scales(train_size=256, dim=32, chi=chi, margin=2**-7)
            number = f"{expected.critical_batch:.3g}"
            visit.wait(f"document.querySelector('#scales').innerText.includes('{number}')")
        # B* is read from the cells as soon as they are there; theory is good to a factor of three.
        visit.wait("/measured\\s+\\d/.test(document.querySelector('#scales').innerText)")
        visit.wait("document.querySelector('#plane-note').innerText.includes('three seeds')")
        measured = float(visit.text("#scales dd >> nth=0").split()[0])
        assert 1 / 3 < measured / expected.critical_batch < 3


def test_keyboard_alone(browser: Any, page_file: Path) -> None:
    with Visit(browser, page_file, "#lr=4&batch=16&runs=") as visit:
        page = visit.page
        page.locator("#plane-value .holder > svg").focus()
        page.keyboard.press("ArrowRight")
        page.keyboard.press("ArrowUp")
        assert "batch 32, lr 8" in visit.text("#readout")
        page.keyboard.press("Enter")
        visit.wait("document.querySelector('#chips').innerText.includes('batch 32, lr 8: al')")
        page.keyboard.press("ArrowUp")
        page.keyboard.press("Shift+Enter")
        visit.wait("document.querySelectorAll('#chips li').length === 2")
        outline = "getComputedStyle(document.activeElement).outlineStyle"
        assert page.evaluate(outline) != "none"


def test_a_link_reproduces_the_view(browser: Any, page_file: Path) -> None:
    with Visit(browser, page_file) as visit:
        visit.page.locator("#slider-size").fill("7")
        visit.page.locator("#train-row").click()
        visit.wait("location.hash.includes('size=128')")
        visit.wait("!document.querySelector('#chips').innerText.includes('training')")
        fragment, chips = visit.page.evaluate("location.hash"), visit.text("#chips")
    with Visit(browser, page_file, fragment) as visit:
        visit.wait("!document.querySelector('#chips').innerText.includes('training')")
        assert visit.text("#chips") == chips
        assert visit.text("#value-size") == "128"
    with Visit(browser, page_file, "#plane=x&size=9e9&chi=nan&runs=a:b&step=77&lr=-1") as visit:
        assert visit.text("#value-size") == "4096"


def test_planes_fall_onto_one_another(modules: Any) -> None:
    """In units of B* and T_c, alignment at the same place is the same at P = 128, 512 and 2048.

    Without these units it differs: B* grows as sqrt(P) here.
    """
    points = modules.evaluate(
        """() => {
            const lives = modules.collapse.collapseLives(
                { size: 512, dim: 8, chi: 1, margin: 2 ** -7, momentum: 0 });
            for (const live of lives) {
                const train = (lr, batch) => modules.simulate.trainCell(
                    { ...live.setting, lr, batch, seed: 0 });
                live.results[0] = live.lr.map((lr) =>
                    live.batch.map((batch) => (lr < 0.2 ? null : train(lr, batch))));
            }
            return modules.collapse.collapsePoints(lives);
        }"""
    )
    by_place: dict[Any, list[Any]] = {}
    for point in points:
        by_place.setdefault(tuple(np.round(point["scaled"], 6)), []).append(point)
    pairs = [[p, q] for p, q, *_ in (sorted(g, key=lambda x: x["size"]) for g in by_place.values()
                                     if len(g) > 1)]  # fmt: skip
    assert len(pairs) > 10
    scaled, raw = (
        np.array([abs(np.log2(p[name] / q[name])) for p, q in pairs]) for name in ("ratio", "m")
    )
    assert np.median(scaled) < 0.35 < 0.8 < np.median(raw)


def test_collapse(browser: Any, page_file: Path) -> None:
    with Visit(browser, page_file, "#size=256&dim=16&runs=") as visit:
        visit.page.locator("#collapse").click()
        visit.wait("document.querySelector('#collapse-plane').innerHTML.includes('T / T_c')")
        visit.wait("document.querySelectorAll('#collapse-plane .cell-mark').length > 60")
        assert "P = 1024" in visit.text("#legend")


def test_tour(browser: Any, page_file: Path) -> None:
    with Visit(browser, page_file) as visit:
        visit.page.locator("#tour-next").click()
        for step in range(1, 7):
            assert visit.text("#tour-title").startswith(f"{step} of 6")
            visit.page.locator("#tour-action").click()
            if step < 6:
                visit.page.locator("#tour-next").click()
        assert "Raise the batch from 32 to 256" in visit.text("#readout")
        visit.page.locator("#tour-end").click()
        assert visit.text("#tour-title") == "A tour in six steps"


FITTED = {
    "lr": 0.1, "batch": 16, "regime": "noise-dominated", "gd_line": [
        {"batch": 8, "lr": 0.02, "low": 0.015, "high": 0.03},
        {"batch": 256, "lr": 0.2, "low": 0.1, "high": 0.3}],
    "critical_batch": {"value": 64, "low": 50, "high": 80, "train_size": 1024},
    "largest_batch": {
        "constant_temperature": {"limit": "up to", "value": 60, "low": 50, "high": 70},
        "constant_lr": {"limit": "none", "value": 16, "low": None, "high": None}},
    "unknown": [],
}  # fmt: skip


def test_your_own_file(browser: Any, page_file: Path, tmp_path: Path) -> None:
    table = tmp_path / "runs.csv"
    names = ("lr", "batch", "seed", "status", "alignment", "test_error", "train_size")
    rows = [
        (lr, batch, 0, "fitted", max(1, 64 / batch * lr, 4 * lr), 0.1, size)
        for size in (128, 256) for lr in 2.0 ** np.arange(-9, 3) for batch in 2 ** np.arange(9)
    ]  # fmt: skip
    table.write_text("\n".join(",".join(map(str, row)) for row in [names, *rows]))
    fitted, wrong = tmp_path / "fitted.json", tmp_path / "wrong.csv"
    fitted.write_text(json.dumps(FITTED))
    wrong.write_text("a,b\n1,2\n")
    with Visit(browser, page_file) as visit:
        choose = visit.page.locator("#file").set_input_files
        choose(table)
        visit.wait("document.querySelector('#plane-note').innerText.includes('runs.csv')")
        # The planes of this table meet at 16.
        assert "16" in visit.text("#scales dd >> nth=0")
        assert visit.page.locator("#own-answer option").count() == 2
        choose(fitted)
        visit.wait("document.querySelector('#readout').innerText.includes('Raise the batch')")
        assert "from 16 to 60, with lr = 0.375" in visit.text("#readout")
        assert visit.page.locator(".own-arrow-head").count() == 1
        choose(wrong)
        visit.wait("document.querySelector('#own-message').innerText.includes('no column lr')")
        choose([{"name": "empty.csv", "mimeType": "", "buffer": ",".join(names).encode()}])
        visit.wait("document.querySelector('#own-message').innerText.includes('has no runs')")
        choose([{"name": "x.json", "mimeType": "", "buffer": b"{oops"}])
        visit.wait("document.querySelector('#own-message').innerText.includes('no valid JSON')")


def test_a_store_inside_the_page(browser: Any, tmp_path: Path) -> None:
    from sgdphase import grid, sweep

    plan = grid(dim=8, train_size=[32, 64], lr=[1, 2, 4], batch=[1, 2, 4], seeds=2, test_size=64)
    store = sweep(plan, tmp_path / "runs.sqlite", workers=0).store
    with Visit(browser, explorer_page(tmp_path / "e.html", store.path)) as visit:
        assert "runs.sqlite" in visit.text("#plane-note")
        assert visit.page.locator("#own-answer option").count() == 2
        assert "runs\n2" in visit.text("#readout")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1400, 900, 360])
def test_fits_every_screen(browser: Any, page_file: Path, width: int, scheme: str) -> None:
    look = {"viewport": {"width": width, "height": 800}, "color_scheme": scheme}
    with Visit(browser, page_file, **look) as visit:
        page = visit.page
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        small = page.evaluate(
            """[...document.querySelectorAll("body *")].filter((e) => e.childElementCount === 0 &&
               e.textContent.trim() && e.checkVisibility() && !e.closest("script, style, noscript")
               && parseFloat(getComputedStyle(e).fontSize) < 12).map((e) => e.outerHTML)"""
        )
        assert small == []


def test_axe_finds_nothing_serious(browser: Any, page_file: Path) -> None:
    axe = pytest.importorskip(
        "axe_playwright_python.sync_playwright", reason="axe-playwright-python is not installed"
    )
    for fragment, scheme in (("", "light"), ("#step=3", "dark"), ("#collapse=1&size=64", "light")):
        with Visit(browser, page_file, fragment, color_scheme=scheme) as visit:
            found = axe.Axe().run(visit.page).response["violations"]
            serious = [v for v in found if v["impact"] in ("serious", "critical")]
            assert [(v["id"], v["nodes"][0]["html"]) for v in serious] == []


def test_prints_without_controls(browser: Any, page_file: Path) -> None:
    with Visit(browser, page_file) as visit:
        visit.page.emulate_media(media="print")
        assert not visit.page.locator("#tour").is_visible()
        assert visit.page.locator("#plane-value .holder > svg").is_visible()
        assert len(visit.page.pdf()) > 10_000


def test_pages_of_runs_can_be_touched(browser: Any, tmp_path: Path) -> None:
    """Choose a column and a seed, hover a setting; without JavaScript the page is as before."""
    from sgdphase import grid, sweep
    from sgdphase._report import store_page

    plan = grid(dim=8, train_size=32, lr=[1, 2, 4], batch=[1, 2], seeds=2, test_size=64)
    summary = sweep(plan, tmp_path / "runs.sqlite", workers=0)
    file = store_page(summary.store, tmp_path / "runs.html")
    table = summary.store.table()
    with Visit(browser, file) as visit:
        controls = visit.page.locator(".touch select")
        assert visit.page.locator(".run-mark").count() == 6
        controls.nth(0).select_option("w1")
        for seed, count in (("all", "2 seeds"), ("1", "seed 1")):
            controls.nth(1).select_option(seed)
            visit.page.locator(".run-mark").nth(0).hover()
            words = visit.text(".touch .words")
            keep = (table["lr"] == 1) & (table["batch"] == 1)
            keep &= np.ones_like(keep) if seed == "all" else table["seed"] == int(seed)
            assert words.startswith("batch 1, lr 1: w1") and count in words
            shown = float(words.split("w1 ")[1].split()[0])
            assert shown == pytest.approx(table["w1"][keep].mean(), rel=6e-3)
        assert visit.page.locator("tr.lit").count() == 1
        controls.nth(1).select_option("all")
        assert visit.page.locator(".interval").count() == 6
        visit.page.locator(".touch input").uncheck()
        assert visit.page.locator(".interval").count() == 0
    with Visit(browser, file, java_script_enabled=False) as visit:
        assert visit.page.locator("figure img").is_visible()
        assert visit.page.locator(".touch").count() == 0
        assert visit.page.locator("details table").count() >= 1


def test_runs_of_several_sizes_are_chosen_from(browser: Any, tmp_path: Path) -> None:
    from sgdphase import grid, sweep
    from sgdphase._report.page import page
    from sgdphase._report.runs import every_run

    plan = grid(dim=8, train_size=[32, 64], lr=[1, 2], batch=1, seeds=[0, 1], test_size=64)
    runs = sweep(plan, tmp_path / "runs.sqlite", workers=0).store.runs()
    file = tmp_path / "runs.html"
    file.write_text(page("runs", [every_run([*runs[:3], *runs[4:]])]))
    with Visit(browser, file) as visit:
        sizes = visit.page.locator(".touch select").nth(2)
        # The size of most runs comes first.
        most = {32: 64, 64: 32}[runs[3].training.train_size]
        assert sizes.input_value() == str(most)
        sizes.select_option("32")
        assert visit.page.locator(".run-mark").count() == 2
