"""User files that behave badly: noticed, said, and worked around."""

from __future__ import annotations

import os
import signal
import sys
import textwrap
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sgdphase._own import user_file, user_functions
from sgdphase._own.code import time_limit, user_code
from sgdphase._records import Training
from sgdphase._sweep import Store, sweep
from sgdphase.errors import InputError

torch = pytest.importorskip("torch")
from sgdphase._own.module import fresh, seed_notes  # noqa: E402

Write = Callable[..., Path]

DATA = """
import numpy as np
def data():
    return np.random.rand(40, 3), np.arange(40) % 2
"""


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def make(text: str, name: str = "mine.py") -> Path:
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(textwrap.dedent(text))
        return path

    return make


# Seeds inside model().


def weights(problem: Any, seed: int) -> list[float]:
    return [value for part in fresh(problem, seed).parameters() for value in part.view(-1).tolist()]


SEEDS = {
    "torch": ("import torch", "torch.manual_seed(0)"),
    "its name": ("import torch\nfrom torch import manual_seed", "manual_seed(0)"),
    "its module": ("import torch", "torch.random.manual_seed(0)"),
    "python": ("import random", "random.seed(0)"),
    "name of python's": ("from random import seed", "seed(0)"),
    "numpy": ("import numpy as np", "np.random.seed(0)"),
    "name of numpy's": ("from numpy.random import seed as fix", "fix(0)"),
}
DRAWN = """
import random, numpy, torch
{imports}
def model():
    {call}
    layer = torch.nn.Linear(3, 2)
    with torch.no_grad():
        layer.weight += torch.tensor([random.random(), numpy.random.rand(), 0.0])
    return layer
"""


@pytest.mark.parametrize("kind", SEEDS)
def test_a_seed_inside_model_is_ignored_and_that_is_said(write: Write, kind: str) -> None:
    imports, call = SEEDS[kind]
    plain = user_file(write(DRAWN.format(imports="", call="pass") + DATA))
    expected = [weights(plain, seed) for seed in (0, 1)]
    assert seed_notes(plain) == ()
    before = random_functions()
    problem = user_file(write(DRAWN.format(imports=imports, call=call) + DATA))
    # As if it were not there.
    assert [weights(problem, seed) for seed in (0, 1)] == expected
    (note,) = seed_notes(problem)
    assert note.startswith("model() sets a random seed, which is ignored here")
    assert random_functions() == before
    module = sys.modules["user_training"]
    assert "ignore" not in repr(vars(module).get(call.partition("(")[0]))


def random_functions() -> tuple[Any, ...]:
    import random

    return random.seed, np.random.seed, torch.manual_seed, torch.random.default_generator


def test_seeds_elsewhere_are_the_users(write: Write) -> None:
    text = """
    import numpy as np, torch
    torch.manual_seed(1)
    def model(): return torch.nn.Linear(3, 2)
    def data():
        np.random.seed(4)
        return np.random.rand(40, 3), np.arange(40) % 2
    """
    problem = user_file(write(text))
    assert seed_notes(problem) == ()
    expected = np.random.RandomState(4).rand(40, 3)
    assert sorted(problem.train_set(40, 0).x[:, 0]) == sorted(expected[:, 0])


def test_random_functions_are_put_back_after_an_error() -> None:
    def model() -> None:
        torch.manual_seed(0)
        raise KeyError

    def data() -> Any:
        return np.eye(4), [0, 1, 0, 1]

    before = random_functions()
    with pytest.raises(InputError, match="KeyError"):
        fresh(user_functions(user_code(train=lambda **given: 0.0, model=model, data=data)), 0)
    assert random_functions() == before


@pytest.mark.parametrize(
    "make",
    [
        "with torch.random.fork_rng():\n        torch.nn.init.ones_(layer.weight)",
        "layer.load_state_dict({'weight': torch.ones(2, 3)})",
        "torch.nn.init.normal_(layer.weight, generator=torch.Generator().manual_seed(3))",
        "torch.manual_seed(0); torch.nn.init.ones_(layer.weight)",
    ],
)
def test_weights_that_no_seed_changes_are_said(write: Write, make: str) -> None:
    text = f"""
import torch
def model():
    layer = torch.nn.Linear(3, 2, bias=False)
    {make}
    return layer
{DATA}"""
    (note,) = seed_notes(user_file(write(text)))
    assert note == (
        "model() gives the same weights for every seed (pre-trained, or a fixed start): seeds "
        "differ only in the order of the batches and in the points that are held out"
    )
    (note,) = seed_notes(user_file(write(text + "test_data = data")))
    assert note.endswith("seeds differ only in the order of the batches")


def test_a_new_head_on_old_weights_is_a_start_of_its_own(write: Write) -> None:
    text = """
    import torch
    def model():
        net = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Linear(4, 2))
        torch.nn.init.ones_(net[0].weight)
        if {frozen}:
            torch.nn.init.zeros_(net[1].weight), torch.nn.init.zeros_(net[1].bias)
            net[0].requires_grad_(False)
        return net
    """
    assert seed_notes(user_file(write(textwrap.dedent(text).format(frozen=0) + DATA))) == ()
    # What is frozen is no start.
    assert seed_notes(user_file(write(textwrap.dedent(text).format(frozen=1) + DATA)))


@pytest.mark.filterwarnings("ignore:Lazy modules")
def test_layers_without_a_shape_yet_are_no_fixed_start(write: Write) -> None:
    text = "import torch\ndef model():\n    return torch.nn.LazyLinear(2)\n"
    assert seed_notes(user_file(write(text + DATA))) == ()


# Another working directory.

MOVES = """
import os, numpy as np
from pathlib import Path
{top}
def model():
    return Path("here.txt").read_text()
class Points:
    def __len__(self): return 4
    def __getitem__(self, index):
        return np.full(2, float(Path("here.txt").read_text())), index % 2
def data():
    {within}
    return Points()
"""


@pytest.mark.parametrize("top", [True, False])
def test_the_working_directory_is_put_back_and_the_user_finds_theirs(
    write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, top: bool
) -> None:
    write("7", "inner/here.txt")
    (tmp_path / "start").mkdir()
    monkeypatch.chdir(tmp_path / "start")
    move = f"os.chdir({str(tmp_path / 'inner')!r})"
    text = MOVES.format(top=move if top else "", within="pass" if top else move)
    path = write(text)
    problem = user_file(os.path.relpath(path))
    assert Path.cwd() == tmp_path / "start"
    assert Path(problem.path).samefile(path)
    # The points were read, and later calls are made, where it moved to.
    assert problem.train_set(4, 0).x.tolist() == [[7.0, 7.0]] * 4
    assert problem.code.call("model", 0) == "7"
    with problem.code.guest("model"):
        assert Path.cwd() == tmp_path / "inner"
        assert problem.code.call("model", 0) == "7"
        assert Path.cwd() == tmp_path / "inner"
    assert Path.cwd() == tmp_path / "start"


def test_it_is_put_back_after_an_error_and_from_a_folder_that_is_gone(
    write: Write, tmp_path: Path
) -> None:
    before = Path.cwd()
    path = write("import os\nos.chdir('/')\n1 / 0\n")
    with pytest.raises(InputError, match="ZeroDivisionError"):
        user_file(path)
    assert Path.cwd() == before
    path = write(
        "import os, tempfile\nwith tempfile.TemporaryDirectory() as folder:\n"
        "    os.chdir(folder)\ndef train(lr, batch, seed): return 1.0\n"
    )
    assert user_file(path).code.call("train", 0, lr=1, batch=1, seed=1) == 1.0
    assert Path.cwd() == before


def test_a_sweep_writes_where_it_was_told_to(
    write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "start").mkdir()
    (tmp_path / "inner").mkdir()
    monkeypatch.chdir(tmp_path / "start")
    path = write(
        f"import os\ndef train(lr, batch, seed):\n    os.chdir({str(tmp_path / 'inner')!r})\n"
        "    return 1.0\n"
    )
    plan = [
        Training(user_file(path), train_size=8, lr=1.0, batch=b, model="function") for b in (1, 2)
    ]
    assert sweep(plan, "runs.sqlite", workers=0).statuses == {"fitted": 2}
    assert [file.name for file in tmp_path.rglob("*.sqlite")] == ["runs.sqlite"]
    assert (tmp_path / "start" / "runs.sqlite").exists()


# Modules beside the file.


def test_the_standard_library_is_not_shadowed(
    write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Loaded by the worker itself as it starts (random, tempfile), or later by others (html).
    for name in ("html", "random", "tempfile", "fractions"):
        write("raise RuntimeError('the wrong one')\n", f"{name}.py")
    write("from html import escape\nTEXT = escape('<')\n", "helper_of_mine.py")
    path = write(
        "import helper_of_mine\nimport fractions, random\n"
        "def train(lr, batch, epochs, seed):\n    import html\n"
        "    return {'text': len(html.escape('<')), 'drawn': random.random()}\n"
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.delitem(sys.modules, "html", raising=False)
    problem = user_file(path)
    training = Training(problem, train_size=8, lr=1.0, batch=1, model="function", epochs=1)
    for workers in (0, 1):
        store = Store(tmp_path / f"{workers}.sqlite")
        assert sweep([training], store, workers=workers).statuses == {"finished": 1}
        assert store.runs()[0].outcome.observables["text"] == 4
    assert problem.notes == tuple(
        f"{name}.py next to mine.py is not used: import {name} gives the standard library's"
        for name in ("fractions", "html", "random")
    )
    # What is not used is no part of the identity.
    write("pass\n", "random.py")
    assert user_file(path) == problem


def test_modules_packages_and_folders_beside_are_found(write: Write, tmp_path: Path) -> None:
    write("VALUE = 1\n", "single_beside.py")
    write("from .inner import VALUE\n", "package_beside/__init__.py")
    write("from single_beside import VALUE as ONE\nVALUE = 1 + ONE\n", "package_beside/inner.py")
    write("VALUE = 3\n", "folder_beside/part.py")
    # A folder of data with the name of a package that is installed.
    write("", "pytest/readme.txt")
    path = write(
        "import single_beside, package_beside, pytest\nfrom folder_beside import part\n"
        "def train(lr, batch, seed):\n    from package_beside.inner import VALUE\n"
        "    return single_beside.VALUE + 10 * VALUE + 100 * part.VALUE, pytest.__file__\n"
    )
    path_before = list(sys.path)
    problem = user_file(path)
    value, file = problem.code.call("train", 0, lr=1, batch=1, seed=1)
    assert value == 321 and file == pytest.__file__
    assert sys.path == path_before
    for name, value in (("folder_beside/part.py", 421), ("package_beside/inner.py", 441)):
        write("VALUE = 4\n", name)
        assert user_file(path) != problem
        problem = user_file(path)
        assert problem.code.call("train", 0, lr=1, batch=1, seed=1)[0] == value


# A file that does not end.

LOOPS = {
    "at the top": "while True: pass",
    "in data": "def model(): pass\ndef data():\n    while True: pass",
    "asleep": "import time\ntime.sleep(60)",
    "catches": "while True:\n    try:\n        while True: pass\n    except Exception: pass",
    "catches all once": "try:\n    while True: pass\nexcept: pass\nwhile True: pass",
}


@pytest.mark.parametrize("kind", LOOPS)
def test_loading_ends_with_the_budget(write: Write, kind: str) -> None:
    path = write(LOOPS[kind])
    handler, directory = signal.getsignal(signal.SIGALRM), Path.cwd()
    start = time.monotonic()
    with (
        pytest.raises(
            InputError,
            match=r"\Amine.py: loading it did not end within the budget of 0.3 s\Z",
        ),
        time_limit(0.3, "mine.py"),
    ):
        user_file(path)
    assert 0.3 <= time.monotonic() - start < 5.0
    assert signal.getsignal(signal.SIGALRM) is handler
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)
    assert Path.cwd() == directory


def test_a_limit_that_is_not_reached_leaves_nothing_behind() -> None:
    handler = signal.getsignal(signal.SIGALRM)
    for seconds in (30.0, float("inf")):
        with time_limit(seconds, "mine.py"):
            pass
        assert signal.getsignal(signal.SIGALRM) is handler
        assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)
    with pytest.raises(KeyError), time_limit(30.0, "mine.py"):
        raise KeyError
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)
    with pytest.raises(InputError, match="budget of 0 s"), time_limit(0.0, "mine.py"):
        time.sleep(10)


def test_where_there_is_no_alarm_there_is_no_limit() -> None:
    ended = []

    def work() -> None:
        with time_limit(0.01, "mine.py"):
            time.sleep(0.1)
        ended.append(True)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert ended == [True]


# Reading the data.


def test_a_file_is_read_once(write: Write, tmp_path: Path) -> None:
    log = tmp_path / "log"
    path = write(
        f"""
        import numpy as np
        def note(what):
            with open({str(log)!r}, "a") as file: print(what, file=file)
        note("file")
        def model(): pass
        def data():
            note("data")
            return np.eye(8), np.arange(8) % 2
        """
    )
    problem = user_file(path)
    problem.prepare(), problem.train_set(4, 0), problem.test_set(2, 1), problem.classes
    assert log.read_text().split() == ["file", "data"]
    # Anew for each question: the file may have changed.
    assert user_file(path) == problem
    assert log.read_text().split() == ["file", "data"] * 2
