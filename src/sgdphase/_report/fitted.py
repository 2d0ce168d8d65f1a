"""The page of a diagnosis until fitted, in reading order: answer, doubts, evidence, runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from matplotlib.figure import Figure

from sgdphase._diagnose.fitted.answer import FittedDiagnosis
from sgdphase._diagnose.fitted.text import answer_lines
from sgdphase._report._drawing import has_interval, png
from sgdphase._report.bend import batch_picture
from sgdphase._report.page import (
    Html,
    heading,
    items,
    page,
    pairs,
    paragraph,
    picture,
    section,
    show,
    table,
    write_file,
)
from sgdphase._report.plane import plane_picture
from sgdphase._report.runs import every_run
from sgdphase._report.scaling import scaling_picture
from sgdphase._report.slopes import slopes_picture
from sgdphase.errors import InputError
from sgdphase.stats import Estimate, digits

__all__ = ["fitted_page", "make_folder"]

PAGE = "diagnosis.html"

_TITLES = {
    "plane": "The training in the plane of batch and learning rate",
    "batch": "Alignment over learning rate against batch",
    "scaling": "B* against train size",
    "slopes": "Slopes of alignment",
}
_CAPTIONS = {
    "plane": (
        "Every run at train size {measured_at} is a dot, coloured by its final alignment; seeds "
        "are side by side. The star is your training. Purple: B* with its interval. Green: the "
        "line below which training is like gradient descent; it rises with the batch and is flat "
        "from about twice B* on. Arrows: how far the boundaries are."
    ),
    "batch": (
        "How B* is measured. At a fixed learning rate, alignment over lr falls as one over the "
        "batch where noise decides what is learnt, and is constant where the first step decides. "
        "Small dots are single seeds; B* is where the two dashed laws meet."
    ),
    "scaling": (
        "B* at the measured sizes, and the power law through them with its interval. Values beyond "
        "the measured sizes assume that the law continues."
    ),
    "slopes": (
        "The slopes of alignment at your learning rate and batch (star, with intervals) among "
        "those of the three regimes. A point outside all circles is a crossover: it belongs to no "
        "regime."
    ),
}
_DIFFERENCE = (
    "These numbers answer different questions and need not agree. The gradient noise scale "
    "(McCandlish et al., 2018) compares, at fixed weights, the size of the gradient with its "
    "scatter from example to example. It says from which batch on a larger one saves no steps. It "
    "changes during training, and does not know where training ends. B* is a property of whole "
    "trainings: from B* on, at the same learning rate, a larger batch no longer changes what has "
    "been learnt at the end. The first step's share is the part of the final alignment that is "
    "there after one step. Where noise decides, it is proportional to the batch and would reach 1 "
    "at B*. So batch over share is about B*; it is more than B* close to B*, and where training is "
    "like gradient descent."
)


def fitted_page(diagnosis: FittedDiagnosis, folder: Path) -> Path:
    """Write `diagnosis.html` into `folder`, with its pictures inside and as PNG files.

    A PNG of an earlier diagnosis that is not drawn now is deleted.
    """
    make_folder(folder)
    drawn = _draw(diagnosis)
    for name in _CAPTIONS:
        path = folder / f"diagnosis-{name}.png"
        if name in drawn:
            write_file(path, drawn[name])
        else:
            path.unlink(missing_ok=True)
    out = folder / PAGE
    write_file(out, page("Which regime is this training in?", _parts(diagnosis, drawn)))
    return out


def make_folder(folder: Path) -> None:
    """Create the folder of a page, if it is missing."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{folder}: cannot be created ({error.strerror or error})") from None


def _draw(diagnosis: FittedDiagnosis) -> dict[str, bytes]:
    figures: dict[str, Figure | None] = {
        "plane": plane_picture(diagnosis, diagnosis.runs),
        "batch": batch_picture(diagnosis, diagnosis.runs),
        "scaling": scaling_picture(diagnosis),
        "slopes": slopes_picture(diagnosis),
    }
    return {name: png(figure) for name, figure in figures.items() if figure is not None}


def _parts(diagnosis: FittedDiagnosis, drawn: Mapping[str, bytes]) -> list[Html]:
    parts = [section("first", _answer(answer_lines(diagnosis)))]
    if diagnosis.unknown:
        parts += [heading("Unknown"), items(diagnosis.unknown)]
    if diagnosis.warnings:
        parts += [heading("Warnings"), section("warning", [items(diagnosis.warnings)])]
    parts += [heading("In pictures")] if drawn else []
    parts += [_pictured(diagnosis, name, drawn[name]) for name in _CAPTIONS if name in drawn]
    parts += [heading("In numbers"), _numbers(diagnosis), *_sizes(diagnosis)]
    parts += [heading("Also measured: the first step and the gradient noise scale")]
    parts += [_also_measured(diagnosis), paragraph(_DIFFERENCE)]
    parts += [heading("Settings"), pairs(diagnosis.settings or {"settings": "the defaults"})]
    parts += [heading("Runs"), paragraph(_effort(diagnosis)), every_run(diagnosis.runs)]
    return parts


def _answer(lines: Sequence[str]) -> list[Html]:
    """Lines that begin with a space are items of the one above them."""
    parts: list[Html] = []
    under: list[str] = []
    for line in lines:
        if line.startswith(" "):
            under.append(line.strip())
            continue
        parts += [items(under)] if under else []
        parts.append(paragraph(line))
        under = []
    return [*parts, items(under)] if under else parts


def _pictured(diagnosis: FittedDiagnosis, name: str, content: bytes) -> Html:
    caption = _CAPTIONS[name].format(measured_at=diagnosis.measured_at)
    return picture(content, caption, _TITLES[name])


def _numbers(diagnosis: FittedDiagnosis) -> Html:
    sure = "" if diagnosis.confidence is None else f", confidence {diagnosis.confidence:.0%}"
    rows: list[tuple[str, str, str]] = [("regime", f"{diagnosis.regime}{sure}", "")]
    rows += [_row(f"slope in {name}", slope) for name, slope in diagnosis.slopes.items()]
    for name, limit in (
        ("largest batch at constant lr/batch", diagnosis.constant_temperature),
        ("largest batch at constant lr", diagnosis.constant_lr),
    ):
        value, between = _written(limit.batch)
        if limit.kind in ("none", "unknown"):
            value, between = (
                {"none": "the present one", "unknown": "unknown"}[limit.kind],
                "",
            )
        rows.append((name, f"any, up to {value}" if limit.kind == "any" else value, between))
    if diagnosis.scaling is not None:
        rows.append(_row("exponent of B* in train size", diagnosis.scaling.exponent))
        rows.append(_row("chi of the paper that it implies", diagnosis.scaling.chi))
        for size, batch in diagnosis.scaling.extrapolated.items():
            rows.append(_row(f"B* at train size {size} (extrapolated)", batch))
    return table(("", "value", "interval"), rows)


def _sizes(diagnosis: FittedDiagnosis) -> list[Html]:
    if not diagnosis.sizes:
        return []
    rows = [
        (size.train_size, *_written(size.critical_batch), size.trainings, "; ".join(size.notes))
        for size in diagnosis.sizes
    ]
    return [table(("train size", "B*", "interval", "trainings", "notes"), rows)]


def _also_measured(diagnosis: FittedDiagnosis) -> Html:
    share, star = diagnosis.first_step_share, diagnosis.critical_batch
    rows: list[tuple[str, str, str, str]] = []
    at = f"at train size {diagnosis.measured_at}, lr {show(diagnosis.lr)}, batch {diagnosis.batch}"
    rows.append(("first step's share of the final alignment", *_written(share), at))
    rows.append(
        ("B* is at most about (batch over share)", *_written(diagnosis.first_step_bound), at)
    )
    size = "" if star is None else f"at train size {star.train_size}, from whole trainings"
    rows.append(("B*", *_written(None if star is None else star.critical_batch), size))
    for name, value in diagnosis.noise_scale.items():
        text = show(value) or "unknown"
        rows.append((f"gradient noise scale, {name.replace('_', ' ')}", text, "", ""))
    if not diagnosis.noise_scale:
        rows.append(("gradient noise scale", "not measured", "", ""))
    return table(("", "value", "interval", ""), rows)


def _row(name: str, estimate: Estimate | None) -> tuple[str, str, str]:
    return (name, *_written(estimate))


def _written(estimate: Estimate | None) -> tuple[str, str]:
    """A number and its interval as text."""
    if estimate is None:
        return ("unknown", "")
    between = f"{digits(estimate.low)} to {digits(estimate.high)}" if has_interval(estimate) else ""
    return (digits(estimate.value), between)


def _effort(diagnosis: FittedDiagnosis) -> str:
    return f"The answer uses {diagnosis.trainings} trainings; it took {diagnosis.seconds:.0f} s."
