"""Which metric decides whether two trainings are the same, and which way is better."""

from __future__ import annotations

from collections.abc import Mapping

from sgdphase.diagram._column_names import more_is_better
from sgdphase.errors import InputError

# The usual metrics, the most informative first.
_USUAL = (
    "test_error", "test_mse", "test_loss", "val_error", "val_loss", "test_accuracy",
    "val_accuracy", "error", "accuracy", "loss",
)  # fmt: skip


def deciding_metric(
    metrics: Mapping[str, float], name: str = "", maximize: bool | None = None
) -> tuple[str, bool]:
    """The metric asked for, or the usual one, and whether more of it is better.

    >>> deciding_metric({"train_loss": 0.1, "val_accuracy": 0.9})
    ('val_accuracy', True)
    """
    if name and name not in metrics:
        raise InputError(f"metric = '{name}': must be one of {', '.join(metrics)}")
    if not name:
        usual = [known for known in _USUAL if known in metrics]
        if not usual and len(metrics) > 1:
            raise InputError(f"which metric decides? give --metric, one of {', '.join(metrics)}")
        name = usual[0] if usual else next(iter(metrics))
    return name, more_is_better(name) if maximize is None else maximize
