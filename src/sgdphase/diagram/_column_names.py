"""Which column of a table of runs is which: by the name that is given, or by a usual one."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Any

from numpy.typing import NDArray

from sgdphase.diagram._run_files import RunColumns
from sgdphase.errors import InputError, likely, listed, require_type

# Usual names, the most likely first; capitals, `_` and prefixes such as `params.` do not count.
_USUAL = {
    "lr": ("lr", "learningrate", "eta", "stepsize", "baselr", "maxlr", "peaklr", "lrmax"),
    "batch": ("batch", "batchsize", "bs", "globalbatchsize", "trainbatchsize",
              "perdevicetrainbatchsize", "minibatch"),
    "value": ("testerror", "testloss", "valloss", "valerror", "evalloss", "validationloss",
              "testaccuracy", "testacc", "valaccuracy", "valacc", "evalaccuracy", "loss", "error",
              "accuracy", "acc", "score", "value"),
    "steps": ("steps", "stepstotarget", "numsteps", "iterations", "iters"),
    "seed": ("seed", "randomseed", "rngseed", "rng", "randomstate", "replicate", "repeat"),
    "epochs": ("epochs", "numepochs", "maxepochs", "numtrainepochs"),
}  # fmt: skip
_PREFIX = re.compile(r"^(params|config|metrics|metric|summary|values|user_attrs|hparams)[_./]")
# Words of metrics: what is to be low, what is to be high, and of the latter what is at most one (or
# 100, in per cent).
_LOWER = re.compile(
    r".*(loss|err|error|errors|mse|mae)|perplexity|ppl|nll|brier|mape|wer|cer|eer|ece|fid|"
    r"(cross)?entropy|bp[bcd]|deviance|divergence|regret|latency|lpips|(run|wall)?times?|seconds|"
    r"steps|iterations|epochs|costs?"
)
_SHARE = re.compile(
    r".*(acc|accuracy|auc|auroc|auprc|f1)|precision.*|recall.*|sensitivity|specificity|m?ap\d*|"
    r"m?iou|dice|jaccard|ndcg.*|mrr|hits?\d*|hitrate|exactmatch|em|top\d+|bleu\d*|sacrebleu|chrf|"
    r"rouge.*|meteor|r2|rsquared|success|win(rate)?|pass\d*|ssim|(acc|prec)\d+"
)
_HIGHER = re.compile(
    r".*score|rewards?|returns?|elo|psnr|likelihood|loglik|elbo|spearman\w*|pearson\w*|kendall\w*|"
    r"corr\w*|kappa|mcc|quality|throughput"
)
# Names such as those of scikit-learn, which has everything higher the better.
_NEGATED = re.compile(r"neg(ative)?[^a-z]*(log|mean|root|max|median|r?mse|mae|loss)")
# Words that turn a name round, or make it a count.
_ODD = {"per", "drop", "std", "var", "variance", "minus", "wrong", "reduction", "num", "count"}
# What grows in proportion to lr or lr/batch in a regime.
TELLING = ("alignment", "w1", "weight_change", "w_perp", "norm")
# Stands for the learning rate where there is none.
NO_LR = "(none)"


def more_is_better(metric: str) -> bool:
    """Whether more of a metric is better, by its name; one that does not tell is refused.

    >>> more_is_better("val_accuracy"), more_is_better("val_loss"), more_is_better("macroF1")
    (True, False, True)
    >>> more_is_better("neg_mean_squared_error"), more_is_better("win_rate")
    (True, True)
    """
    if metric in TELLING:
        return False  # neither is better
    words = _words(metric)
    low = any(map(_LOWER.fullmatch, words))
    high = is_share(metric) or any(map(_HIGHER.fullmatch, words))
    negated = _NEGATED.match(metric.lower())
    turned = words & {"neg", "negative"} and not negated
    counted = high and words & {"step", "steps", "epoch", "epochs", "iterations", "time", "times"}
    if turned or counted or words & _ODD or not (low or high):
        raise InputError(
            f"{metric}: which way is better? give --higher-is-better or --lower-is-better "
            "(in Python: maximize=True or False)"
        )
    return low == bool(negated)


def is_share(metric: str) -> bool:
    """Whether a metric is at most one (or 100, in per cent), and better the higher it is.

    >>> is_share("sentiment_accuracy"), is_share("reward"), is_share("val_loss")
    (True, False, False)
    """
    return any(map(_SHARE.fullmatch, _words(metric)))


def _words(metric: str) -> set[str]:
    """The words of a name, those that capitals begin too, and each two in one: `macro`, `f1`."""
    parted = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", metric)
    parts = [re.split(r"[^a-z0-9]+", name.lower()) for name in (metric, parted)]
    return {word for each in parts for word in (*each, *map("".join, pairwise(each)))}


def direction(source: Any, metric: str) -> bool:
    """Whether more is better: as a study says, or the name."""
    told = getattr(getattr(source, "direction", None), "name", "")
    return bool(told == "MAXIMIZE") if told else more_is_better(metric)


def chosen_column(role: str, given: str | None, columns: RunColumns) -> str:
    """The column of a role: the one that was named, or the one with the most usual name."""
    if given == "" and role in ("seed", "epochs"):
        return ""
    if given is not None:
        require_type(role, given, str, "the name of a column")
        name = found_column(given, columns, role)
        _check_numbers(name, columns[name])
        return name
    for usual in _USUAL[role]:
        for name in columns:
            if bare(name) == usual:
                _check_numbers(name, columns[name])
                return name
    if role in ("seed", "epochs"):
        return ""
    raise InputError(
        f"which column is the {_WORDS[role]}? give --{role}, one of {listed(_named(columns))}"
    )


_WORDS = {
    "lr": "learning rate", "batch": "batch", "value": "result, as a loss",
    "steps": "number of steps to the target",
}  # fmt: skip


def found_column(given: str, columns: RunColumns, role: str = "") -> str:
    """The column of this name, whatever its capitals and prefix."""
    if given in columns:
        return given
    alike = [name for name in columns if _plain(name) == _plain(given)]
    if len(alike) == 1:
        return alike[0]
    usual = [name for name in columns if role in _USUAL and bare(name) in _USUAL[role]]
    meant = likely(given, columns) or likely(bare(given), [bare(name) for name in columns])
    meant = meant or "".join(f" (did you mean {name}?)" for name in usual[:1])
    raise InputError(f"no column {given}{meant}; there are {listed(_named(columns), 'and')}")


def _named(columns: RunColumns) -> list[str]:
    return [name for name in columns if name != NO_LR]


def _plain(name: str) -> str:
    return _PREFIX.sub("", name.lower())


def bare(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", _plain(name))


def _check_numbers(name: str, column: NDArray[Any]) -> None:
    if column.dtype.kind != "f":
        odd = next(text for text in column.tolist() if not _is_number(text))
        raise InputError(f"column {name}: holds '{odd}': must be numbers")


def _is_number(text: str) -> bool:
    try:
        float(text or "nan")
    except ValueError:
        return False
    return True
