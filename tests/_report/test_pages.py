"""Pages: well-formed HTML that needs nothing from outside and holds every number and run."""

from __future__ import annotations

import base64
import math
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pytest

from sgdphase._diagnose.fitted.answer import FittedDiagnosis, Limit, Scaling, Size
from sgdphase._records import Outcome, Training
from sgdphase._report import diagnosis_page, store, store_page
from sgdphase._report.plane import plane_picture
from sgdphase._report.store import experiments
from sgdphase._sweep import Run, Store, table_of
from sgdphase.diagram import LinePoint, phase_diagram, plane_from_table
from sgdphase.errors import InputError
from sgdphase.problems import TeacherTask
from sgdphase.stats import Estimate

_VOID = {"meta", "img", "br"}


class Reader(HTMLParser):
    """Tags must close in order; keeps the text, the pictures and the rows of tables."""

    def __init__(self, text):
        super().__init__()
        self.open, self.references, self.rows, self.words, self.anchors = [], [], [], [], set()
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        if tag not in _VOID:
            self.open.append(tag)
        self.references += [value for name, value in attrs if name in ("src", "href", "data")]
        self.anchors |= {value for name, value in attrs if name == "id"}
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] in ("td", "th", "a"):
            self.rows[-1][-1] += data
        self.words.append(data)

    @property
    def text(self):
        return " ".join(self.words)


def read(path):
    text = path.read_text(encoding="utf-8")
    assert "http://" not in text
    assert "https://" not in text
    assert "url(" not in text
    reader = Reader(text)
    for reference in reader.references:
        if reference.startswith("#"):
            assert reference[1:] in reader.anchors
        else:
            head, _, data = reference.partition(",")
            assert head == "data:image/png;base64"
            assert base64.b64decode(data).startswith(b"\x89PNG")
    return reader


def run_at(lr, batch, seed=0, status="fitted", trace="", size=512, value=None, **own):
    """A run whose alignment is that of three sharp regimes with B* = 16."""
    m = (0.05**3 + (0.8 * lr / batch) ** 3 + (0.05 * lr) ** 3) ** (1 / 3)
    scatter = np.random.default_rng([seed, batch, int(1e6 * lr)]).standard_normal()
    m *= math.exp(0.1 * seed + 0.05 * scatter)
    found = {} if status == "failed" else {"alignment": value or m, "test_error": 0.1}
    training = Training(TeacherTask(dim=8), size, float(lr), int(batch), seed=seed, **own)
    return Run(training, Outcome(status, 7, 7 * lr, found), 0.25, trace)


def plane(**own):
    return [
        run_at(lr, batch, seed, **own)
        for lr in 2.0 ** np.arange(-6, 7)
        for batch in 2 ** np.arange(0, 10)
        if batch <= own.get("size", 512)
        for seed in range(3)
    ]


def stored(path, runs):
    with Store(path).writer() as writer:
        writer.write([(run.training.key, run) for run in runs], trajectory=False)
    return path


def estimate(value, factor=1.2):
    return Estimate(value, value / factor, value * factor)


SIZES = (128, 256, 512)
FULL = FittedDiagnosis(
    lr=1.0,
    batch=8,
    train_size=2048,
    measured_at=512,
    regime="noise-dominated",
    between=None,
    confidence=0.93,
    expected="noise-dominated",
    slopes={"lr": Estimate(0.97, 0.9, 1.05), "batch": Estimate(-0.8, -0.95, -0.61)},
    sizes=tuple(Size(size, estimate(size / 32), 30, ("a note",)) for size in SIZES),
    gd_line=tuple(LinePoint(b, estimate(0.06 * b)) for b in (1.0, 4.0, 8.0, 16.0)),
    constant_temperature=Limit("up to", estimate(16.5)),
    constant_lr=Limit("none", Estimate(8, math.nan, math.nan)),
    scaling=Scaling(
        Estimate(1.01, 0.9, 1.12),
        Estimate(0.02, -0.1, 0.11),
        {2048: estimate(64.3), 20480: estimate(643.0, 1.5)},
    ),
    first_step_share=Estimate(0.5, 0.4, 0.625),
    noise_scale={"start": 23.4, "end": 812.0},
    warnings=("BatchNorm couples the points of a batch",),
    unknown=("the GD line above batch 16: run lr < 2^-9",),
    trainings=90,
    seconds=812.0,
    settings={"file": "my <b>training</b> & more.py", "momentum": 0.9},
)
EMPTY = FittedDiagnosis(
    lr=1.0,
    batch=8,
    train_size=2048,
    measured_at=512,
    regime="unclear",
    between=None,
    confidence=None,
    expected="unclear",
    slopes={"lr": None, "batch": None},
    sizes=(),
    gd_line=(),
    constant_temperature=Limit("unknown"),
    constant_lr=Limit("unknown"),
    scaling=None,
    first_step_share=None,
    noise_scale={},
    warnings=(),
    unknown=(),
    trainings=0,
    seconds=0.0,
)
PNGS = {f"diagnosis-{name}.png" for name in ("plane", "batch", "scaling", "slopes")}


def pngs(folder):
    return {path.name for path in folder.glob("*.png")}


def test_a_diagnosis_in_full(tmp_path):
    runs = [run for size in SIZES for run in plane(size=size)]
    path = diagnosis_page(replace(FULL, runs=tuple(runs)), tmp_path / "new" / "folder")
    assert path == tmp_path / "new" / "folder" / "diagnosis.html"
    assert pngs(path.parent) == PNGS
    found = read(path)
    # The pictures in the page are those beside it.
    embedded = [base64.b64decode(r.partition(",")[2]) for r in found.references]
    assert sorted(embedded) == sorted(p.read_bytes() for p in path.parent.glob("*.png"))
    for words in (
        "Regime: noise-dominated",
        "BatchNorm couples",
        FULL.unknown[0],
        "<b>training</b> &",
    ):
        assert words in found.text
    # The answer comes before the doubts, and these before the runs.
    order = [
        "Boundaries at 512 points",
        FULL.unknown[0],
        "BatchNorm couples",
        "In pictures",
        "Settings",
        "Every run (",
    ]
    assert sorted(order, key=found.text.index) == order
    rows = {row[0]: row[1:] for row in found.rows if row}
    assert rows["regime"][0] == "noise-dominated, confidence 93%"
    assert rows["slope in batch"] == ["-0.8", "-0.95 to -0.61"]
    assert rows["largest batch at constant lr/batch"][0] == "16.5"
    assert rows["largest batch at constant lr"][0] == "the present one"
    assert rows["B* at train size 20480 (extrapolated)"] == ["643", "429 to 964"]
    assert rows["gradient noise scale, end"][0] == "812"
    assert rows["B* is at most about (batch over share)"][:2] == ["16", "12.8 to 20"]
    assert found.text.count("fitted") >= len(runs)


def test_a_diagnosis_of_nothing(tmp_path):
    (tmp_path / "diagnosis-slopes.png").write_bytes(b"of an earlier one")
    (tmp_path / "mine.png").write_bytes(b"not ours")
    found = read(diagnosis_page(EMPTY, tmp_path))
    assert pngs(tmp_path) == {"mine.png"}
    assert "There are no runs." in found.text
    assert "not measured" in found.text
    rows = {row[0]: row[1:] for row in found.rows if row}
    for name in ("slope in lr", "slope in batch", "B*", "largest batch at constant lr"):
        assert rows[name][0] == "unknown"


@pytest.mark.parametrize(
    "changes",
    [
        {
            "gd_line": FULL.gd_line[:1],
            "scaling": None,
            "sizes": FULL.sizes[-1:],
            "constant_lr": Limit("any", Estimate(2048, math.nan, math.nan)),
        },
        {
            "sizes": (Size(512, Estimate(16.0, math.nan, math.nan), 3),),
            "batch": 512,
            "lr": 1e-9,
            "first_step_share": Estimate(0.2, -0.1, 0.5),
        },
        {
            "scaling": replace(FULL.scaling, extrapolated={}),
            "sizes": (),
            "slopes": {"lr": Estimate(1, math.nan, math.nan), "batch": None},
            "first_step_share": Estimate(-0.2, -0.3, 0.5),
        },
        {"measured_at": 64},
    ],
)
def test_a_diagnosis_in_part(tmp_path, changes):
    read(diagnosis_page(replace(FULL, runs=tuple(plane()[::7]), **changes), tmp_path))


@pytest.mark.parametrize("runs", [[run_at(1.0, 8)], plane(status="diverged")[::7]])
@pytest.mark.parametrize("diagnosis", [FULL, EMPTY])
def test_a_diagnosis_from_runs_that_tell_little(tmp_path, diagnosis, runs):
    read(diagnosis_page(replace(diagnosis, runs=tuple(runs)), tmp_path))
    assert "diagnosis-plane.png" in pngs(tmp_path)


def test_runs_without_an_alignment_are_drawn_and_named():
    given_up = replace(run_at(8.0, 8), outcome=Outcome("budget", 0, 0.0, {}))
    runs = [run_at(1.0, 8, value=-0.1), run_at(2.0, 8, status="budget"), given_up]
    drawn = plane_picture(replace(EMPTY, runs=tuple(runs))).axes[0].get_legend()
    assert {entry.get_text() for entry in drawn.get_texts()} >= {
        "alignment not positive", "not fitted", "given up",
    }  # fmt: skip


def test_a_diagnosis_that_cannot_be_written(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="cannot be created"):
        diagnosis_page(EMPTY, tmp_path / "file")


def test_a_store(tmp_path):
    runs = plane()
    path = store_page(stored(tmp_path / "<a> & b.sqlite", runs), tmp_path / "out.html")
    found = read(path)
    diagram = phase_diagram(plane_from_table(table_of(runs)))
    rows = {row[0]: row[1:] for row in found.rows if row}
    star, line = diagram.critical_batch, diagram.first_step_lr
    assert float(rows["B*"][0]) == pytest.approx(star.value, rel=1e-3)
    low, high = map(float, rows["B*"][1].split(" to "))
    assert (low, high) == pytest.approx((star.low, star.high), rel=1e-3)
    assert float(rows["first-step line"][0]) == pytest.approx(line.value, rel=1e-3)
    assert float(rows["lowest test error"][0]) == pytest.approx(0.1)
    # Every run once, with its alignment to five digits.
    head = next(row for row in found.rows if row[:4] == ["lr", "batch", "temperature", "seed"])
    at = found.rows.index(head) + 1
    table_rows = [dict(zip(head, row, strict=True)) for row in found.rows[at : at + len(runs)]]
    shown = sorted(float(row["alignment"]) for row in table_rows)
    wanted = sorted(run.outcome["alignment"] for run in runs)
    assert shown == pytest.approx(wanted, rel=1e-4)
    assert {row["status"] for row in table_rows} == {"fitted"}
    assert "Phase diagrams of <a> & b.sqlite" in found.text


def test_experiments_are_those_that_a_plane_refuses_to_mix():
    runs = plane(size=512) + plane(size=1024) + plane(size=1024, momentum=0.5)
    found = experiments(runs)
    assert [len(each.runs) for each in found] == [len(plane())] * 3
    for each in found:
        plane_from_table(table_of(each.runs))
    assert [each.title for each in found] == [
        "perceptron on teacher, train_size = 512, momentum = 0",
        "perceptron on teacher, train_size = 1024, momentum = 0",
        "perceptron on teacher, train_size = 1024, momentum = 0.5",
    ]


def test_experiments_with_the_same_places_are_told_apart_by_what_differs():
    runs = [run_at(1.0, b, max_steps=limit) for b in (1, 2) for limit in (10, 20)]
    assert [each.differing for each in experiments(runs)] == [{"max_steps": 10}, {"max_steps": 20}]
    # Another budget at another place is of the same experiment.
    assert len(experiments([run_at(1.0, 1, max_steps=10), run_at(1.0, 2, max_steps=20)])) == 1


def test_a_store_of_several_experiments_has_contents(tmp_path):
    path = stored(tmp_path / "s.sqlite", [run_at(1.0, 1, size=n) for n in (512, 1024)])
    found = read(store_page(path, tmp_path / "all.html"))
    assert {"#experiment-0", "#experiment-1"} <= set(found.references)
    one = read(store_page(path, tmp_path / "one.html", fixed={"train_size": 1024}))
    assert "train_size = 1024" in one.text
    assert "train_size = 512" not in one.text


@pytest.mark.parametrize(
    "runs",
    [
        [run_at(1.0, 1)],
        [run_at(1.0, b, status="diverged") for b in (1, 2)],
        [run_at(1.0, b, status="failed", trace="Traceback\nOops: <b>&") for b in (1, 2)],
        [run_at(1.0, 1, value=-1.0), run_at(2.0, 1, status="budget")],
    ],
)
def test_a_store_that_tells_little_has_a_page(tmp_path, runs):
    found = read(store_page(stored(tmp_path / "s.sqlite", runs), tmp_path / "out.html"))
    assert f"Every run ({len(runs)})" in found.text
    if runs[0].traceback:
        assert "Oops: <b>&" in found.text


def test_too_many_runs_are_given_as_cells(tmp_path, monkeypatch):
    path = stored(tmp_path / "s.sqlite", plane())
    monkeypatch.setattr(store, "MOST_RUNS", 100)
    found = read(store_page(path, tmp_path / "out.html"))
    assert "too many for a page" in found.text
    assert "Every run" not in found.text
    assert "Every cell (130)" in found.text


def test_what_a_store_page_refuses(tmp_path):
    path = stored(tmp_path / "s.sqlite", [run_at(1.0, 1)])
    before = path.read_bytes()
    with pytest.raises(InputError, match=r"must end in \.html"):
        store_page(path, path)
    assert path.read_bytes() == before
    with pytest.raises(InputError, match="no column w2: the runs have"):
        store_page(path, tmp_path / "out.html", observable="w2")
    with pytest.raises(InputError, match="train_size = 7: the runs have 512"):
        store_page(path, tmp_path / "out.html", fixed={"train_size": 7})
    with pytest.raises(InputError, match=r"factor = 0\.5"):
        store_page(path, tmp_path / "out.html", factor=0.5)
    assert not (tmp_path / "out.html").exists()
