"""The page of a fitted diagnosis, in the order it is read: answer, doubts, evidence, runs."""

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
        "Every run at train size {measured_at}: a dot, coloured by its alignment at the end, seeds "
        "side by side. The star is your training. Purple: B* with its interval; green: the line "
        "below which the training is as that of gradient descent: it rises with the batch to its "
        "level at large batch, which it meets at about twice B*. Arrows: how far boundaries are."
    ),
    "batch": (
        "How B* is found. At a fixed learning rate, alignment over lr falls as one over the batch "
        "as long as noise decides what is learnt, and is the same for every batch once the first "
        "step does. Small dots are single seeds; B* is where the two dashed laws meet."
    ),
    "scaling": (
        "B* at the sizes that were measured, and the power law through them with its interval. "
        "What lies beyond the measured sizes rests on the law going on."
    ),
    "slopes": (
        "The slopes of alignment at your learning rate and batch (star, with intervals) among "
        "those of the three regimes. Outside all circles it is a crossover, which belongs to none."
    ),
}
_DIFFERENCE = (
    "These numbers answer different questions and need not agree. The gradient noise scale "
    "(McCandlish et al., 2018) compares, at one point of the weights, the size of the gradient "
    "with its scatter from one example to the next; it says at what batch a larger one stops "
    "saving steps. It is local in the weights: it changes in the course of training, and knows "
    "nothing of where training ends. B* says from what batch on a larger one no longer changes "
    "what has been learnt at the end, at the same learning rate; it is a property of whole "
    "trainings. The first step's share lies between: it is how much of the final alignment is "
    "there after one step. As long as noise decides, it grows in proportion to the batch and "
    "would reach the whole at B*, so that batch over share is about B*, or more than B* near it "
    "and where training is as that of gradient descent."
)


def fitted_page(diagnosis: FittedDiagnosis, folder: Path) -> Path:
    """Write `diagnosis.html` into `folder`, with its pictures in it and as PNGs beside it.

    A PNG of an earlier diagnosis that this one has no use for is taken away.
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
    """Make the folder of a page, if it is not there."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{folder}: cannot be made ({error.strerror or error})") from None


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
        rows.append(_row("chi that it implies", diagnosis.scaling.chi))
        for size, found in diagnosis.scaling.extrapolated.items():
            rows.append(_row(f"B* at train size {size} (extrapolated)", found))
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
        found = show(value) or "unknown"
        rows.append((f"gradient noise scale, {name.replace('_', ' ')}", found, "", ""))
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
    return (
        f"The answer rests on {diagnosis.trainings} trainings; it took {diagnosis.seconds:.0f} s."
    )
