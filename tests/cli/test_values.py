"""Numbers, ranges and lists as they are typed."""

import pytest

from sgdphase.cli._values import integer, integers, number, numbers
from sgdphase.errors import InputError


@pytest.mark.parametrize(
    ("text", "value"),
    [("2^-7", 2**-7), ("1/64", 1 / 64), ("1e-3", 1e-3), (" 16 ", 16.0), ("-0.5", -0.5)],
)
def test_numbers_are_read(text: str, value: float) -> None:
    assert number(text) == value


@pytest.mark.parametrize("text", ["", "abc", "2^", "^2", "1/0", "2^2^2", "nan", "(-1)^0.5", "0^-1"])
def test_other_things_are_not(text: str) -> None:
    with pytest.raises(InputError, match="is not a number such as"):
        number(text)


def test_ranges_and_lists() -> None:
    assert numbers("2^-10..2^12") == [2.0**k for k in range(-10, 13)]
    assert integers("1..8192") == [2**k for k in range(14)]
    assert numbers("1..64*4") == [1, 4, 16, 64]
    assert numbers("1,2,8") == [1, 2, 8]
    assert numbers("3..20") == [3, 6, 12]


@pytest.mark.parametrize("text", ["4..1", "0..8", "1..8*1", "..", "1..", "1,,2", "1,1", "1..4,2"])
def test_bad_ranges(text: str) -> None:
    with pytest.raises(InputError):
        numbers(text)


def test_whole_numbers() -> None:
    assert integer("2^13") == 8192
    with pytest.raises(InputError, match="not a whole number"):
        integer("0.5")
    with pytest.raises(InputError, match="not a whole number"):
        integers("2^-1..4")
