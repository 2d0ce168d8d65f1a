"""The explorer in a real browser, from a file and without a network.

What a page computes is compared with the package: the process by two-sample tests over seeds, the
theory to 1e-6, the regimes and boundaries of a table of runs to rounding.
"""

from __future__ import annotations

import json
import math
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
from sgdphase._report.plane_data import table_plane
from sgdphase.diagram import phase_diagram
from sgdphase.diagram._run_files import run_columns
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


def differences(a: Any, b: Any, place: str = "") -> list[str]:
    """Where two JSON documents differ by more than rounding."""
    if isinstance(a, dict) and isinstance(b, dict) and a.keys() == b.keys():
        return [text for key in a for text in differences(a[key], b[key], f"{place}.{key}")]
    if isinstance(a, list) and isinstance(b, list) and len(a) == len(b):
        return [
            t
            for i, both in enumerate(zip(a, b, strict=True))
            for t in differences(*both, f"{place}[{i}]")
        ]
    if isinstance(a, float) and isinstance(b, float):
        return [] if math.isclose(a, b, rel_tol=1e-9) else [f"{place}: {a} and {b}"]
    return [] if a == b else [f"{place}: {a} and {b}"]


def test_stored_plane_is_that_of_the_table() -> None:
    """Made again from the 1610 runs, the data file is the same, to rounding."""
    made = table_plane(run_columns(RUNS), "fig1a")
    assert differences(made, json.loads(STORED.read_text())) == []
    assert sum(made["runs"]) == 1610
    whole = phase_diagram(run_columns(RUNS))
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


@pytest.mark.parametrize("chi", [0.0, 1.0])
def test_full_batch_is_gradient_descent(modules: Any, chi: float) -> None:
    """The same steps as a plain loop over the same points: no unfitted point is left out."""
    given = SETTING | {"chi": chi, "lr": 0.25, "batch": 256, "seed": 3}
    run, data = modules.evaluate(
        """(given) => [modules.simulate.trainCell(given), Array.from(
               modules.teacher.teacherPoints({ ...given, use: modules.teacher.TRAIN }))]""",
        given,
    )
    z = np.array(data).reshape(256, 16)
    w, steps = np.zeros(16), 0
    while (unfitted := z @ w < SETTING["margin"] * 4).any():
        w += given["lr"] / 256 / 4 * z[unfitted].sum(axis=0)
        steps += 1
    assert run["steps"] == steps > 100
    assert [run["w1"], run["wPerp"]] == pytest.approx([w[0], np.linalg.norm(w[1:])])


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
    table = run_columns(RUNS)
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
        # At every time B* is missing, with the number of trainings that are in, or has an interval.
        texts = visit.page.evaluate(
            """async () => {
                const texts = [];
                for (let k = 0; k < 400; k++) {
                    texts.push(document.querySelector('#scales dd').innerText);
                    const note = document.querySelector('#plane-note').innerText;
                    if (note.includes('three seeds')) break;
                    await new Promise((resolve) => setTimeout(resolve, 50));
                }
                return texts;
            }"""
        )
        honest = r"not yet: \d+ of \d+ trainings|[\d.]+ \[[\d.]+, [\d.]+\]"
        assert [text for text in texts if not re.fullmatch(honest, text)] == []
        # Theory is good to a factor of three.
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
    wild = "#plane=x&size=9e9&chi=nan&step=77&lr=-1&batch=1e99&runs=a:b,9:999999,1e-300:2.5,1:0.1"
    with Visit(browser, page_file, wild) as visit:
        assert visit.text("#value-size") == "4096"
        runs = visit.page.evaluate("location.hash").split("runs=")[1].split(",")
        pairs = [tuple(map(float, run.split(":"))) for run in runs]
        assert pairs == [(9, 4096), (2.0**-20, 3), (1, 1)]
        visit.wait("!document.querySelector('#chips').innerText.includes('training')")


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
        fragment = visit.page.evaluate("location.hash")
    # A link shows the same parts; the cut of a plane that is not simulated is not among them.
    with Visit(browser, page_file, fragment) as visit:
        visit.wait("document.querySelectorAll('#collapse-curves .dot').length > 3")
        assert not visit.page.locator("#cut").is_visible()


SCREENS = {"laptop": (1280, 800), "tablet": (768, 1024), "phone": (390, 844)}
# Between the tour, which sticks to the top, and the end of the screen.
IN_SIGHT = """(selector) => {
    const top = Math.max(document.querySelector('#tour').getBoundingClientRect().bottom, 0);
    const box = document.querySelector(selector).getBoundingClientRect();
    return box.height > 100 && box.top >= top - 1 && box.bottom <= innerHeight + 1;
}"""


@pytest.mark.parametrize("screen", SCREENS)
def test_tour_shows_its_results(browser: Any, page_file: Path, screen: str) -> None:
    width, height = SCREENS[screen]
    look = {"viewport": {"width": width, "height": height}, "reduced_motion": "reduce"}
    charts = ["#trajectory", "#unfitted"]
    results = [["#plane-value .holder"], charts, charts, charts,
               ["#collapse-plane"], ["#plane-value .holder"]]  # fmt: skip
    with Visit(browser, page_file, **look) as visit:
        for step, shown in enumerate(results, start=1):
            visit.page.locator("#tour-next").click()
            assert visit.text("#tour-title").startswith(f"{step} of 6")
            hidden = [s for s in shown if not visit.page.evaluate(IN_SIGHT, s)]
            assert hidden == [], step
        assert "Raise the batch from 32 to 256" in visit.text("#readout")
        visit.page.locator("#tour-end").click()
        assert visit.text("#tour-title") == "A tour in six steps"
        # A training that is clicked is seen, too, and stays in sight while the plane fills up.
        visit.page.locator("#show-live").click()
        visit.page.locator("#plane-value .holder > svg").click()
        for seen in ("", "three seeds per cell"):
            visit.wait(f"document.querySelector('#plane-note').textContent.includes('{seen}')")
            assert visit.page.evaluate(IN_SIGHT, "#trajectory"), seen
        # Until the reader scrolls.
        visit.page.mouse.wheel(0, 2000)
        visit.wait(f"!({IN_SIGHT})('#trajectory')")


def test_a_finger_draws_across_and_scrolls_up(browser: Any, page_file: Path) -> None:
    """What it touched before the page began to scroll is not trained."""
    look = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True,
            "reduced_motion": "reduce"}  # fmt: skip
    with Visit(browser, page_file, "#plane=live&size=64&runs=1:1", **look) as visit:
        page = visit.page
        wire = visit.context.new_cdp_session(page)

        def touch(kind: str, *points: tuple[float, float]) -> None:
            given = [{"x": x, "y": y} for x, y in points]
            wire.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": given})

        def drag(dx: float, dy: float) -> tuple[float, str]:
            page.evaluate("scrollTo({ top: 0, behavior: 'instant' })")
            box = page.locator("#plane-value .holder > svg").bounding_box()
            x, y = box["x"] + 150, box["y"] + 150
            touch("touchStart", (x, y))
            for k in range(1, 9):
                touch("touchMove", (x + dx * k / 8, y + dy * k / 8))
                page.wait_for_timeout(16)
            scrolled = float(page.evaluate("scrollY"))
            touch("touchEnd")
            return scrolled, str(page.evaluate("location.hash"))

        # First, as the page still rolls after a finger that scrolled.
        scrolled, drawn = drag(100, -70)
        assert scrolled == 0 and drawn.count(":") > 2
        for dx, dy in ((0, -120), (-40, -100)):
            scrolled, fragment = drag(dx, dy)
            assert scrolled > 20 and fragment == drawn


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
        assert "theory" not in visit.text("#legend") + visit.text("#scales")
        assert not visit.page.locator("#trajectory").is_visible()
        assert visit.page.locator("#cut circle").count() == 9
        # Dropped anywhere on the page.
        visit.page.evaluate(
            """(text) => {
                const dataTransfer = new DataTransfer();
                dataTransfer.items.add(new File([text], "fitted.json"));
                const given = { dataTransfer, bubbles: true, cancelable: true };
                document.body.dispatchEvent(new DragEvent("dragover", given));
                document.body.dispatchEvent(new DragEvent("drop", given));
            }""",
            fitted.read_text(),
        )
        visit.wait("document.querySelector('#readout').innerText.includes('Raise the batch')")
        for absent in ("#trainings", "#sliders-card", "#plane-error", "#keys"):
            assert not visit.page.locator(absent).is_visible()
        assert "64 [50, 80]" in visit.text("#scales")
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


def test_an_answer_has_the_columns_that_it_knows(browser: Any, page_file: Path) -> None:
    """Steps and seeds are null in answers from a table of runs."""
    metrics = {"loss": {"value": 1.0, "low": 0.9, "high": 1.1}}
    row = {"exists": True, "verdict": "the same", "steps": None, "metrics": metrics}
    answer = {
        "yours": {"lr": 1, "batch": 8, "epochs": 3, "steps": None, "metrics": metrics},
        "metric": "loss", "tolerance": 0.2, "largest_batch": None, "regime": "unclear",
        "equivalents": [row | {"batch": 16, "lr": {"value": 2, "low": 1, "high": 3}, "seeds": 4}],
        "better": [{"batch": 8, "lr": {"value": 3}, "metrics": {"loss": {"value": 0.7}}}],
        "unknown": ["which batch is the largest"],
    }  # fmt: skip
    with Visit(browser, page_file) as visit:
        content = json.dumps(answer).encode()
        visit.page.locator("#file").set_input_files(
            [{"name": "answer.json", "mimeType": "", "buffer": content}]
        )
        visit.wait("document.querySelector('#own-answer table') !== null")
        head = [cell.inner_text() for cell in visit.page.locator("#own-answer th").all()]
        assert head == ["batch", "lr", "loss", "against yours", "seeds"]
        assert "which batch is the largest" in visit.text("#own-answer")
        assert "A better loss: batch 8, lr 3: 0.7." in visit.text("#own-answer")
        assert not visit.page.locator("#scales-card").is_visible()
        assert visit.page.locator(".own-bar").count() == 1
        visit.page.locator("#intervals").uncheck()
        assert visit.page.locator(".own-bar").count() == 0


SMALL = """() => [...document.querySelectorAll("body *")].filter((e) => e.childElementCount === 0 &&
    e.textContent.trim() && e.checkVisibility() && !e.closest("script, style, noscript")
    && parseFloat(getComputedStyle(e).fontSize) < 12).map((e) => e.outerHTML)"""


def test_fits_every_screen(browser: Any, page_file: Path) -> None:
    with Visit(browser, page_file) as visit:
        page = visit.page
        for width in (1400, 900, 360):
            page.set_viewport_size({"width": width, "height": 800})
            for scheme in ("light", "dark"):
                page.emulate_media(color_scheme=scheme)
                assert page.evaluate("document.documentElement.scrollWidth") <= width
                assert page.evaluate(SMALL) == []


def test_what_is_read_of_a_cell_has_one_height(browser: Any, page_file: Path) -> None:
    with Visit(browser, page_file, "#plane=live&size=64&dim=8&runs=") as visit:
        visit.wait("document.querySelector('#plane-note').innerText.includes('three seeds')")
        for button in ("#show-live", "#show-stored"):
            visit.page.locator(button).click()
            heights, texts = set(), set()
            visit.page.locator("#plane-value .holder > svg").focus()
            for key in ["ArrowDown"] * 5 + ["ArrowRight"] * 7 + ["ArrowUp"] * 9 + ["ArrowLeft"] * 9:
                visit.page.keyboard.press(key)
                texts.add(visit.text("#readout .says"))
                heights.add(round(visit.page.locator("#readout").bounding_box()["height"]))
            assert len(texts) > 2 and len(heights) == 1


# Two frames later what was changed before is on the screen.
DRAWN = "() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"


def test_axe_finds_nothing_serious(browser: Any, page_file: Path) -> None:
    axe = pytest.importorskip(
        "axe_playwright_python.sync_playwright", reason="axe-playwright-python is not installed"
    )
    looks = [("", "light", 1300), ("#step=3", "dark", 390), ("#collapse=1&size=64", "light", 768)]
    with Visit(browser, page_file) as visit:
        for fragment, scheme, width in looks:
            visit.page.set_viewport_size({"width": width, "height": 844})
            visit.page.emulate_media(color_scheme=scheme)
            visit.page.evaluate("(fragment) => { location.hash = fragment; }", fragment)
            visit.page.evaluate(DRAWN)
            found = axe.Axe().run(visit.page).response["violations"]
            serious = [v for v in found if v["impact"] in ("serious", "critical")]
            assert [(v["id"], v["nodes"][0]["html"]) for v in serious] == []


def test_prints_without_controls(browser: Any, page_file: Path) -> None:
    with Visit(browser, page_file, "#runs=", color_scheme="dark") as visit:
        visit.page.emulate_media(media="print")
        absent = "button, input, #tour, #keys, #own, #trajectory, #sliders-card, .how"
        assert [e for e in visit.page.locator(absent).all() if e.is_visible()] == []
        for there in ("#plane-value .holder > svg", "#cut", "#scales"):
            assert visit.page.locator(there).is_visible()
        paper = visit.page.evaluate("getComputedStyle(document.body).backgroundColor")
        assert paper == "rgb(255, 255, 255)"
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
