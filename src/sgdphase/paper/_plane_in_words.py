"""A plane of networks in words: what a picture shows, and which cells it has not."""

from __future__ import annotations

from sgdphase.paper._networks import Setting
from sgdphase.stats import power_of_two


def title(setting: Setting) -> str:
    """One line over a picture.

    >>> from sgdphase.paper._networks import fc
    >>> title(fc("paper"))
    'P = 32768, width 128, margin $2^{-15}$, 5 seeds'
    """
    margin = power_of_two(setting.margin).replace("2^", "2^{") + "}"
    return (
        f"P = {setting.train_size}, width {setting.width}, "
        f"margin {f'${margin}$' if setting.margin != 1 else 1}, "
        f"{setting.seeds} seed{'s' if setting.seeds > 1 else ''}"
    )


def omissions(setting: Setting) -> str:
    """What a reduced plane leaves out, in a sentence or two."""
    parts = []
    if setting.coldest > 0:
        cold, slow = power_of_two(setting.coldest), power_of_two(setting.slowest)
        parts.append(f"The cells of T < {cold} and eta < {slow} are left out.")
    if setting.max_samples is not None:
        parts.append(f"A training sees at most {power_of_two(setting.max_samples)} points.")
    return " ".join([*parts, setting.remark]).strip()
