"""The page of a diagnosis until fitted, in reading order: answer, doubts, evidence, runs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import TYPE_CHECKING

from sgdphase._diagnose.fitted.answer import FittedDiagnosis
from sgdphase._diagnose.fitted.text import answer_lines
from sgdphase._report.fitted_pictures import batch_picture, scaling_picture, slopes_picture
from sgdphase._report.page import (
    Html,
    doubts,
    heading,
    items,
    pairs,
    paragraph,
    picture,
    section,
    show,
    table,
    written,
)
from sgdphase._report.plane import plane_picture
from sgdphase._report.runs import every_run

if TYPE_CHECKING:
    from matplotlib.figure import Figure

TITLE = "Which regime is this training in?"

# What draws each picture, its title and its caption.
_PICTURES: dict[str, tuple[Callable[[FittedDiagnosis], Figure | None], str, str]] = {
    "plane": (
        plane_picture,
        "The training in the plane of batch and learning rate",
        "Every run at train size {measured_at} is a dot, coloured by its final alignment; seeds "
        "are side by side. The star is your training. Purple: B* with its interval. Green: the "
        "line below which training is like gradient descent; it rises with the batch and is flat "
        "from about twice B* on. Arrows: how far the boundaries are.",
    ),
    "batch": (
        batch_picture,
        "Alignment over learning rate against batch",
        "How B* is measured. At a fixed learning rate, alignment over lr falls as one over the "
        "batch where noise decides what is learnt, and is constant where the first step decides. "
        "Small dots are single seeds; B* is where the two dashed laws meet.",
    ),
    "scaling": (
        scaling_picture,
        "B* against train size",
        "B* at the measured sizes, and the power law through them with its interval. Values beyond "
        "the measured sizes assume that the law continues.",
    ),
    "slopes": (
        slopes_picture,
        "Slopes of alignment",
        "The slopes of alignment at your learning rate and batch (star, with intervals) among "
        "those of the three regimes. A point outside all circles is a crossover: it belongs to no "
        "regime.",
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


def draw(diagnosis: FittedDiagnosis) -> dict[str, Figure | None]:
    """The pictures by name; None for one that there is nothing to show in."""
    return {name: make(diagnosis) for name, (make, _, _) in _PICTURES.items()}


def parts(diagnosis: FittedDiagnosis, drawn: Mapping[str, bytes]) -> list[Html]:
    effort = f"The answer uses {diagnosis.trainings} trainings; it took {diagnosis.seconds:.0f} s."
    pictures = [
        picture(drawn[name], caption.format(measured_at=diagnosis.measured_at), title)
        for name, (_, title, caption) in _PICTURES.items()
        if name in drawn
    ]
    return [
        section("first", _answer(answer_lines(diagnosis))),
        *doubts(diagnosis.unknown, diagnosis.warnings),
        *([heading("In pictures"), *pictures] if drawn else []),
        heading("In numbers"),
        _numbers(diagnosis),
        *_sizes(diagnosis),
        heading("Also measured: the first step and the gradient noise scale"),
        _also_measured(diagnosis),
        paragraph(_DIFFERENCE),
        heading("Settings"),
        pairs(diagnosis.settings or {"settings": "the defaults"}),
        heading("Runs"),
        paragraph(effort),
        every_run(diagnosis.runs),
    ]


def _answer(lines: Sequence[str]) -> Iterator[Html]:
    """Lines that begin with a space are items of the one above them."""
    for is_under, group in groupby(lines, lambda line: line.startswith(" ")):
        some = list(group)
        yield from [items(map(str.strip, some))] if is_under else map(paragraph, some)


def _numbers(diagnosis: FittedDiagnosis) -> Html:
    sure = "" if diagnosis.confidence is None else f", confidence {diagnosis.confidence:.0%}"
    rows: list[tuple[str, str, str]] = [("regime", f"{diagnosis.regime}{sure}", "")]
    rows += [(f"slope in {name}", *written(slope)) for name, slope in diagnosis.slopes.items()]
    for name, limit in (
        ("largest batch at constant lr/batch", diagnosis.constant_temperature),
        ("largest batch at constant lr", diagnosis.constant_lr),
    ):
        value, between = written(limit.batch)
        match limit.kind:
            case "none":
                value, between = "the present one", ""
            case "any":
                value = f"any, up to {value}"
        rows.append((name, value, between))
    if diagnosis.scaling is not None:
        rows.append(("exponent of B* in train size", *written(diagnosis.scaling.exponent)))
        rows.append(("chi of the paper that it implies", *written(diagnosis.scaling.chi)))
        for size, batch in diagnosis.scaling.extrapolated.items():
            rows.append((f"B* at train size {size} (extrapolated)", *written(batch)))
    return table(("", "value", "interval"), rows)


def _sizes(diagnosis: FittedDiagnosis) -> list[Html]:
    if not diagnosis.sizes:
        return []
    rows = [
        (
            size.train_size,
            *written(size.critical_batch),
            size.trainings,
            "; ".join(size.notes),
        )
        for size in diagnosis.sizes
    ]
    return [table(("train size", "B*", "interval", "trainings", "notes"), rows)]


def _also_measured(diagnosis: FittedDiagnosis) -> Html:
    share, star = diagnosis.first_step_share, diagnosis.critical_batch
    at = f"at train size {diagnosis.measured_at}, lr {show(diagnosis.lr)}, batch {diagnosis.batch}"
    size = "" if star is None else f"at train size {star.train_size}, from whole trainings"
    bound = diagnosis.first_step_bound
    rows = [
        ("first step's share of the final alignment", *written(share), at),
        ("B* is at most about (batch over share)", *written(bound), at),
        ("B*", *written(None if star is None else star.critical_batch), size),
    ]
    for name, value in diagnosis.noise_scale.items():
        text = show(value) or "unknown"
        rows.append((f"gradient noise scale, {name.replace('_', ' ')}", text, "", ""))
    if not diagnosis.noise_scale:
        rows.append(("gradient noise scale", "not measured", "", ""))
    return table(("", "value", "interval", ""), rows)
