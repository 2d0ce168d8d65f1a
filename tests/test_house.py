"""The order of the rooms, read from the source: a module imports only from rooms to its left.

Every import counts, also those inside functions, those for type checking, and those of stubs
(`__init__.pyi`), which name what a room loads when it is asked for. At the end, the calls of three
commands: they go to the left too, and `cli` enters no room twice.
"""

from __future__ import annotations

import ast
import os
import sys
from collections.abc import Callable, Iterator
from functools import cache
from itertools import groupby
from pathlib import Path
from types import FrameType

import pytest

from sgdphase import cli

SOURCE = Path(__file__).parent.parent / "src"
PACKAGE = SOURCE / "sgdphase"

# From left to right. Rooms of the same rank do not import each other, except `BASE`.
RANKS: tuple[tuple[str, ...], ...] = (
    ("stats", "theory", "problems"),
    ("perceptron", "networks"),
    ("_own",),
    ("_sweep",),
    ("diagram",),
    ("paper", "_diagnose"),
    ("_report",),
    ("cli",),
)
RANK = {room: rank for rank, rooms in enumerate(RANKS) for room in rooms}
# In the first rank, problems and theory may use stats, and problems may use theory.
BASE = {("theory", "stats"), ("problems", "stats"), ("problems", "theory")}
# Modules beside the rooms serve all rooms, and import only the rooms and modules named here.
ROOT: dict[str, set[str]] = {
    "errors": set(),
    "_typing": set(),
    "_streams": set(),
    "_lazy": set(),
    "_extras": {"errors"},
    "_display": {"errors", "_extras"},
    "_parameters": {"errors", "_typing", "problems"},
    "_records": {"errors", "_typing", "_streams", "_display", "_parameters", "problems"},
}
# The rooms below the records, which therefore may not use them.
BELOW_RECORDS = {"stats", "theory", "problems"}
# Modules of these rooms may have public names: the room is private, or its files are its content.
PUBLIC_MODULES = {"paper", "cli"}


def modules() -> dict[str, Path]:
    """Dotted name to file, of every module of the package."""
    result = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        parts = path.relative_to(SOURCE).with_suffix("").parts
        result[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return result


MODULES = modules()


def room(module: str) -> str:
    """The first name below the package; "" for the package itself."""
    return f"{module}.".split(".")[1]


def imports(module: str, *, at_start: bool = False) -> Iterator[str]:
    """Modules of the package that a module imports; with `at_start` only while it is loaded."""
    path, stub = MODULES[module], MODULES[module].with_suffix(".pyi")
    package = module if path.name == "__init__.py" else module.rpartition(".")[0]
    statements = list(nodes(ast.parse(path.read_text()), at_start=at_start))
    if stub.exists() and not at_start:
        statements += nodes(ast.parse(stub.read_text()), at_start=False)
    for node in statements:
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        else:
            start = node.module or ""
            if node.level:
                parent = package.split(".")[: len(package.split(".")) - node.level + 1]
                start = ".".join([*parent, *filter(None, [start])])
            # `from room import x` imports the module room.x if there is one, else the room.
            names = [
                name if (name := f"{start}.{alias.name}") in MODULES else start
                for alias in node.names
            ]
        yield from (name for name in names if name in MODULES and name != module)


def nodes(tree: ast.AST, *, at_start: bool) -> Iterator[ast.Import | ast.ImportFrom]:
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            yield node
        elif not (at_start and is_later(node)):
            yield from nodes(node, at_start=at_start)


def is_later(node: ast.AST) -> bool:
    """Whether what is inside is not run while the module is loaded."""
    if isinstance(node, ast.If):
        return "TYPE_CHECKING" in ast.unparse(node.test)
    return isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))


def allowed(here: str, there: str) -> bool:
    """Whether a module of room `here` may import from room `there`."""
    if here == "":
        return True  # `sgdphase/__init__.py` names what is public, from all rooms
    if there == "":
        return here in ("cli", "_lazy")  # the version
    if here in ROOT:
        return there in ROOT[here]
    if there in ROOT:
        return not (here in BELOW_RECORDS and there in ("_records", "_parameters"))
    return here == there or RANK[there] < RANK[here] or (here, there) in BASE


def test_a_module_imports_only_from_rooms_to_its_left():
    edges = [
        f"{module} imports {other}"
        for module in MODULES
        for other in imports(module)
        if room(module) != room(other) and not allowed(room(module), room(other))
    ]
    assert not edges, "\n".join(edges)


def test_every_room_has_its_place():
    rooms = {room(module) for module in MODULES} - {""}
    assert rooms <= RANK.keys() | ROOT.keys(), "state the place of a new room in RANKS or ROOT"
    assert RANK.keys() <= rooms


def test_the_rule_notices_an_edge_to_the_right():
    assert allowed("diagram", "_sweep")
    assert not allowed("_sweep", "diagram")
    assert not allowed("perceptron", "networks")
    assert not allowed("paper", "_diagnose")
    assert not allowed("problems", "_records")


def test_imports_inside_functions_count():
    tree = ast.parse(
        "def f():\n    from sgdphase import cli\nif TYPE_CHECKING:\n    import sgdphase"
    )
    assert len(list(nodes(tree, at_start=False))) == 2
    assert not list(nodes(tree, at_start=True))


def test_no_cycle_between_modules():
    """While modules are loaded: an import inside a function waits for the call."""
    graph = {module: set(imports(module, at_start=True)) for module in MODULES}
    done: set[str] = set()

    def visit(module: str, path: tuple[str, ...]) -> None:
        assert module not in path, " -> ".join([*path[path.index(module) :], module])
        if module not in done:
            for other in graph[module]:
                visit(other, (*path, module))
            done.add(module)

    for module in graph:
        visit(module, ())


@pytest.mark.parametrize("module", MODULES)
def test_no_module_is_over_350_lines(module: str):
    assert len(MODULES[module].read_text().splitlines()) <= 350


def test_modules_of_public_rooms_are_private():
    public = [
        module
        for module in MODULES
        if len(module.split(".")) > 2
        and not module.rpartition(".")[2].startswith("_")
        and not room(module).startswith("_")
        and room(module) not in PUBLIC_MODULES
    ]
    assert not public
    at_root = {module.split(".")[1] for module in MODULES if len(module.split(".")) == 2}
    rooms = RANK.keys()
    assert {name for name in at_root - rooms if not name.startswith("_")} == {"errors"}


# Serves every room, as text and numbers with intervals do.
EVERYWHERE = {"stats"}
# A hook of Python's import system, which any import may call; what a command shows of a sweep.
HOOKS = {"find_spec", "progress_on"}

Step = tuple[str, str]  # the rooms of the caller and of what it calls


def walk(run: Callable[[], object]) -> list[Step]:
    """Every call from one room into another, in order; what modules do as they load is left out."""
    steps: list[Step] = []

    def note(frame: FrameType, event: str, _: object) -> None:
        here = room_of(frame)
        if event != "call" or here is None or frame.f_code.co_name in HOOKS:
            return
        caller = frame.f_back
        while caller is not None and room_of(caller) is None:
            if caller.f_code.co_name == "_call_with_frames_removed":  # an import
                return
            caller = caller.f_back
        if caller is not None and room_of(caller) != here:
            steps.append((str(room_of(caller)), here))

    sys.setprofile(note)
    try:
        run()
    finally:
        sys.setprofile(None)
    return steps


def room_of(frame: FrameType) -> str | None:
    """The room of the code that runs; None outside of the rooms."""
    return room_of_file(frame.f_code.co_filename)


@cache
def room_of_file(path: str) -> str | None:
    inside = path.removeprefix(f"{Path(cli.__file__).parents[1]}{os.sep}")
    first = inside.split(os.sep)[0]
    return first if inside != path and first in RANK else None


TRAINING = """
def train(lr, batch, epochs, seed):
    return {"test_error": abs(lr / batch - 0.01) + 0.01 * (seed % 3)}
"""
SWEEP = "sweep perceptron --dim 8 --train-size 32 --lr 1,2 --batch 1,2 --store a.sqlite --workers 0"
DIAGNOSE = "diagnose t.py --lr 0.1 --batch 8 --epochs 2 --budget 1s --workers 0 --out page"
# Any figure takes the same way; this one needs no images.
FIGURE = "figure figS9a --scale quick --workers 0"


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (SWEEP, ["_sweep"]),
        (DIAGNOSE, ["_diagnose", "_report"]),
        (FIGURE, ["paper"]),
    ],
)
def test_commands_cross_no_room_twice(
    words: str, expected: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("t.py").write_text(TRAINING)
    app = cli.build(lazy=True)
    steps = walk(lambda: app(words.split(), standalone_mode=False))
    to_the_right = {step for step in steps if RANK[step[0]] <= RANK[step[1]]}
    assert to_the_right <= BASE
    entered = [there for here, there in steps if here == "cli" and there not in EVERYWHERE]
    assert [name for name, _ in groupby(entered)] == expected
