"""The parts of a page: text is escaped, and a file is written whole or not at all."""

from __future__ import annotations

import re

import pytest

from sgdphase._report.page import Html, page, paragraph, table, write_file
from sgdphase.errors import InputError


def test_text_is_escaped_and_html_is_not():
    found = page(
        "<i>", [paragraph("a & <script>"), table(("<u>",), [("<s>",), (Html("<b>x</b>"),)])]
    )
    assert re.findall(r"<(?:i|script|u|s)>", found) == []
    assert "<td><b>x</b></td>" in found
    assert "&lt;script&gt;" in found


def test_a_file_is_written_whole_or_not_at_all(tmp_path, monkeypatch):
    path = tmp_path / "a.html"
    write_file(path, "old")

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.replace", full)
    with pytest.raises(InputError, match=r"a\.html: cannot be written \(No space left on device\)"):
        write_file(path, "new")
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_what_is_not_a_file_is_left_alone(tmp_path):
    with pytest.raises(InputError, match="not a file"):
        write_file(tmp_path, "x")
    with pytest.raises(InputError, match="No such file or directory"):
        write_file(tmp_path / "none" / "a.html", "x")
