"""The text of a command: placeholders and paths."""

from __future__ import annotations

from pathlib import Path

import pytest

from sgdphase._own.template import check_template, is_path, placed, placeholders_of
from sgdphase.errors import InputError


@pytest.mark.parametrize(
    ("template", "what"),
    [
        ("", "must be a command such as"),
        ("t {lr}", r"has no \{batch\}"),
        ("t {batch}", r"has no \{lr\}"),
        ("t {learning_rate} {batch}", r"\{learning_rate\} of the command: must be one of \{lr\}"),
        ("t {lr} {Batch}", r"did you mean batch\?"),
        ("t {lr} {batch} {}", r"placeholder \{\}"),
        ("t {lr} {batch.real}", r"placeholder \{batch.real\}"),
        ('t {lr} {batch} {"a": 1}', "write {{ and }} for braces"),
        ("t {lr} {batch", "write {{ and }} for braces"),
        ("t {lr} {batch:z}", "write {{ and }} for braces"),
        ("t {lr} '{batch}", "no closing quotation"),
    ],
)
def test_what_cannot_be_filled_is_refused(template: str, what: str) -> None:
    with pytest.raises(InputError, match=what):
        check_template(template)


def test_braces_and_formats_are_possible() -> None:
    template = """t --lr {lr:.3e} --conf '{{"batch": {batch}}}'"""
    check_template(template)
    assert placeholders_of(template) == {"lr", "batch"}


def test_words_that_name_what_is_there_become_absolute(tmp_path: Path) -> None:
    (tmp_path / "train.py").touch()
    (tmp_path / "conf" / "a").mkdir(parents=True)
    (tmp_path / "resnet").mkdir()
    for word in ("train.py", "conf/", "conf/a", "./train.py", "."):
        assert is_path(word) and Path(placed(word, tmp_path)) == tmp_path / word
    assert placed("--conf=conf/a", tmp_path) == f"--conf={tmp_path}/conf/a"
    # A name that is a folder by chance, one that is not there, an option, an absolute path.
    for word in ("resnet", "model=resnet", "out/m.json", "0.5", "--a.b", "/etc/passwd"):
        assert placed(word, tmp_path) == word
