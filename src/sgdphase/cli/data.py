"""`sgdphase data`: the files of the image problems."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from sgdphase.cli._networks import image_problems, set_up
from sgdphase.cli._options import JSON
from sgdphase.cli._output import answer, print_table
from sgdphase.cli._stop import Commands
from sgdphase.errors import InputError

_DATA_DIR = typer.Option(
    metavar="DIR", help="Folder in which to look first, instead of SGDPHASE_DATA."
)


def register(app: typer.Typer, _: str) -> None:
    group = typer.Typer(cls=Commands, invoke_without_command=True, rich_markup_mode=None)
    group.callback()(data)
    group.command("fetch")(fetch)
    app.add_typer(group, name="data")


def data(
    context: typer.Context,
    data_dir: Annotated[Path | None, _DATA_DIR] = None,
    json: Annotated[bool, JSON] = False,
) -> None:
    """List the files of the image problems: which are found, where, and whether they are sound.

    Example: sgdphase data
    """
    set_up(data_dir)
    if context.invoked_subcommand is None:
        _report(list(image_problems().values()), json)


def fetch(
    names: Annotated[
        list[str] | None, typer.Argument(metavar="NAME", help="Problems; by default all.")
    ] = None,
    data_dir: Annotated[Path | None, _DATA_DIR] = None,
    json: Annotated[bool, JSON] = False,
) -> None:
    """Download the files that are missing into the cache, and list them all.

    Example: sgdphase data fetch mnist-parity
    """
    problems = image_problems()
    for name in names or ():
        if name not in problems:
            raise InputError(f"'{name}' has no files: must be one of {', '.join(problems)}")
    set_up(data_dir)
    chosen = [problems[name] for name in names or problems]
    for problem in chosen:
        problem.prepare()
    _report(chosen, json)


def _report(problems: list[Any], json: bool) -> None:
    reports = [_state(problem) for problem in problems]
    rows = [(each["kind"], each["images"], each["state"], _where(each)) for each in reports]
    columns = ("problem", "images", "files", "where")
    answer(reports, json, lambda: print_table(columns, rows, words=("files", "where")))


def _state(problem: Any) -> dict[str, Any]:
    """What there is of a problem's files: sound when each is there with its checksum."""
    from sgdphase.problems._files import find, places

    found = find(problem.files)
    missing = [each for each in found if each.path is None]
    unsound = [each for each in found if each.path is not None and not each.sound]
    words = [f"{len(missing)} of {len(found)} missing"] if missing else []
    words += [f"{len(unsound)} of {len(found)} not the original"] if unsound else []
    return {
        "kind": problem.kind,
        "images": problem.points,
        "state": ", ".join(words) or "sound",
        "files": [
            {"name": each.name, "path": each.path and str(each.path), "sound": each.sound}
            for each in found
        ],
        "looked_in": [str(folder) for folder in places(problem.files)],
    }


def _where(report: dict[str, Any]) -> str:
    """The folders that hold files or, without any, those where they were looked for."""
    held = {str(Path(each["path"]).parent) for each in report["files"] if each["path"]}
    return ", ".join(sorted(held)) or "not in " + ", ".join(report["looked_in"])
