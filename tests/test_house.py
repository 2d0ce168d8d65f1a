"""The house, read from the source: who imports whom, how large modules are, where tests stand.

A module imports only from rooms to its left, and of these only from those that `KNOWS` names.
Every import counts, also those inside functions, those for type checking, and those of stubs
(`__init__.pyi`), which name what a room loads when it is asked for. At the end, the calls of three
commands: they go to the left too, and `cli` enters no room twice.
"""

from __future__ import annotations

import ast
import os
import re
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

# From left to right. Rooms of the same rank do not import each other, except that `problems` draws
# points of a distribution that `theory` has.
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
BASE = {("problems", "theory")}
# The rooms that a room may import: fewer than all to its left. What is missing here is the column
# "knows nothing of" in CONTRIBUTING.
KNOWS: dict[str, set[str]] = {
    "stats": set(),  # SGD
    "theory": set(),  # any run
    "problems": {"theory"},  # models
    "perceptron": {"theory", "problems"},  # sweeps, files
    "networks": {"problems"},  # sweeps
    "_own": {"stats", "problems", "networks"},  # the paper
    "_sweep": {"stats", "problems"},  # what a training computes
    "diagram": {"stats", "theory"},  # how runs were made
    "paper": {"stats", "theory", "problems", "perceptron", "_sweep", "diagram"},
    "_diagnose": {"stats", "_own", "_sweep", "diagram"},  # the perceptron
    "_report": {"stats", "_own", "_sweep", "diagram", "_diagnose"},
    "cli": {
        "stats",
        "theory",
        "problems",
        "_own",
        "_sweep",
        "diagram",
        "paper",
        "_diagnose",
        "_report",
    },
}
# How numbers of a diagnosis are measured: a page knows the answer, not these.
LEARNERS = {
    "learner", "runner", "batch_search", "cost", "fitted.boundary", "fitted.crossover",
    "fitted.gd_line_search", "fitted.growth", "fitted.row", "fitted.schedule", "fitted.slopes",
}  # fmt: skip
# Names of `stats` that print numbers: all that the command line needs.
PRINTS = {"digits", "duration", "power_or_digits", "power_of_two", "shown"}
# A file of a figure, in contrast to the kit that all figures use.
FIGURE_FILE = re.compile(r"sgdphase\.paper\.(fig[0-9SX]\w*|theory)")
# Modules beside the rooms serve all rooms, and import only the rooms and modules named here.
ROOT: dict[str, set[str]] = {
    "errors": set(),
    "_typing": set(),
    "_streams": set(),
    "_lazy": set(),
    "_compiled": set(),
    "__main__": {"cli"},
    "_extras": {"errors"},
    "_display": {"errors", "_extras"},
    "_models": {"errors", "_parameters"},
    "_parameters": {"errors", "_models", "problems", "stats"},
    "_records": {"errors", "_typing", "_display", "_models", "_parameters", "problems"},
}
# The rooms below the records, which therefore may not use them.
BELOW_RECORDS = {"stats", "theory", "problems"}
# Modules that may have public names: the room is private, or these files are its content.
PUBLIC_MODULES = re.compile(r"sgdphase\.(cli\..*|paper\.(fig\w+|theory|gallery|refill))")


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
        return not (here in BELOW_RECORDS and there in ("_records", "_parameters", "_models"))
    return here == there or there in KNOWS[here]


def test_a_module_imports_only_from_rooms_to_its_left():
    edges = [
        f"{module} imports {other}"
        for module in MODULES
        for other in imports(module)
        if room(module) != room(other) and not allowed(room(module), room(other))
    ]
    assert not edges, "\n".join(edges)


def test_the_rooms_that_a_room_knows_are_to_its_left():
    assert KNOWS.keys() == RANK.keys()
    for here, known in KNOWS.items():
        for there in known:
            assert RANK[there] < RANK[here] or (here, there) in BASE


def test_no_module_imports_a_figure():
    """A figure knows nothing of another; the kit loads figures by their names."""
    assert sum(bool(FIGURE_FILE.fullmatch(module)) for module in MODULES) > 10
    edges = [
        f"{module} imports {other}"
        for module in MODULES
        for other in imports(module)
        if FIGURE_FILE.fullmatch(other)
    ]
    assert not edges, "\n".join(edges)


def test_a_page_does_not_know_how_its_numbers_were_measured():
    learners = {f"sgdphase._diagnose.{name}" for name in LEARNERS}
    assert learners <= MODULES.keys()
    edges = [
        f"{module} imports {other}"
        for module in MODULES
        if room(module) == "_report"
        for other in imports(module)
        if other in learners
    ]
    assert not edges, "\n".join(edges)


def test_the_command_line_knows_no_mathematics():
    """It takes from `stats` what prints numbers, and nothing from SciPy or numba."""
    for module, path in MODULES.items():
        if room(module) != "cli":
            continue
        for node in nodes(ast.parse(path.read_text()), at_start=False):
            names = {alias.name for alias in node.names}
            start = node.module or "" if isinstance(node, ast.ImportFrom) else ""
            if start.startswith("sgdphase.stats"):
                assert names <= PRINTS, module
            assert not {name.split(".")[0] for name in {start, *names}} & {"scipy", "numba"}, module


def test_every_room_has_its_place():
    rooms = {room(module) for module in MODULES} - {""}
    assert rooms <= RANK.keys() | ROOT.keys(), "state the place of a new room in RANKS or ROOT"
    assert RANK.keys() <= rooms


def test_the_rule_notices_an_edge_to_the_right():
    assert allowed("paper", "_sweep")
    assert not allowed("_sweep", "paper")
    assert not allowed("perceptron", "networks")
    assert not allowed("paper", "_diagnose")
    assert not allowed("problems", "_records")
    assert not allowed("_sweep", "networks")
    assert not allowed("diagram", "_sweep")


def test_imports_inside_functions_count():
    tree = ast.parse(
        "def f():\n    from sgdphase import cli\nif TYPE_CHECKING:\n    import sgdphase"
    )
    assert len(list(nodes(tree, at_start=False))) == 2
    assert not list(nodes(tree, at_start=True))


def test_no_figure_imports_another():
    content = [module for module in MODULES if re.fullmatch(r"sgdphase\.paper\.[a-z]\w+", module)]
    assert [each for module in content for each in imports(module) if each in content] == []


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
        and not PUBLIC_MODULES.fullmatch(module)
    ]
    assert not public
    at_root = {module.split(".")[1] for module in MODULES if len(module.split(".")) == 2}
    rooms = RANK.keys()
    assert {name for name in at_root - rooms if not name.startswith("_")} == {"errors"}


# Tests


TESTS = Path(__file__).parent
# Test files that are named after a behaviour. All others have the name of a module.
BEHAVIOURS = {
    "test_house": "the rooms, and where tests stand",
    "test_startup": "what is loaded when",
    "test_surface": "the public names",
    "test_docstrings": "what docstrings say",
    "cli/test_json": "outputs of --json against their schemas",
    "cli/test_shell": "exit codes, colours, pipes and completion",
    "_report/test_explorer": "pages in a browser, and what they compute",
    "_sweep/test_kill": "sweeps that are killed",
    "_sweep/test_old_stores": "stores of older versions",
    "_sweep/test_torture": "the short form of the crash matrix",
    "_sweep/test_script": "a script without a guard",
    "cli/test_fuzz": "any command line ends well",
    "networks/test_rounding": "trainings that rounding would keep from ending",
    "networks/test_one_step": "one step against autograd",
    "paper/test_kit": "the kit of the figures",
    "paper/test_fig_crossover": "figures about the crossover",
    "paper/test_fig_networks_curves": "figures of networks, curves",
    "paper/test_fig_networks_planes": "figures of networks, planes",
    "paper/test_fig_scaling": "figures about the size of the training set",
    "paper/test_fig_trajectories": "figures of trajectories",
}


def named_tests() -> set[str]:
    """The names that test files have after the modules: `theory/test_online`."""
    names = set()
    for path in PACKAGE.rglob("*.py"):
        place = path.relative_to(PACKAGE)
        names.add((place.parent / f"test_{place.stem.lstrip('_')}").as_posix())
    return names


def test_every_test_file_has_the_name_of_a_module():
    """The test of `theory/_online.py` is `tests/theory/test_online.py`."""
    files = {
        path.relative_to(TESTS).with_suffix("").as_posix() for path in TESTS.rglob("test_*.py")
    }
    of_pages = {name for name in files if name.startswith("docs/")}
    lost = files - of_pages - named_tests() - BEHAVIOURS.keys()
    assert not lost, "name them after a module, or state their behaviour in BEHAVIOURS"
    assert BEHAVIOURS.keys() <= files - named_tests()


# The walks of commands


# Serves every room, as text and numbers with intervals do.
EVERYWHERE = {"stats"}
# A hook of Python's import system, which any import may call; what a command shows of a sweep; what
# `stats.plain` asks of any answer.
HOOKS = {"find_spec", "progress_on", "as_dict"}

Step = tuple[str, str]  # the rooms of the caller and of what it calls


def walk(run: Callable[[], object]) -> list[Step]:
    """Every call from one room into another, in order; what modules do as they load is left out."""
    steps: list[Step] = []

    def note(frame: FrameType, event: str, _: object) -> None:
        if event != "call" or (here := room_of(frame)) is None or frame.f_code.co_name in HOOKS:
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
