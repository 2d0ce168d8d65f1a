"""A user's file as a guest: read, run, named by its content, and left as it was."""

from __future__ import annotations

import os
import pickle
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sgdphase
from sgdphase._own import UserProblem
from sgdphase._own import data as own_data
from sgdphase._own import problem as user_problems
from sgdphase._own.code import load, user_code
from sgdphase._own.problem import user_file, user_functions
from sgdphase._records import Training
from sgdphase.errors import InputError, UserError

torch = pytest.importorskip("torch")

# A file that trains nothing: problems know nothing of models.
PLAIN = """
import numpy as np

def model():
    return None

def data():
    rng = np.random.default_rng(1)
    x = rng.standard_normal((40, 3))
    return x, (x[:, 0] > 0).astype(int)
"""


def as_in_another_process() -> None:
    """Nothing is read yet."""
    user_problems._FILE.clear()


@pytest.fixture(autouse=True)
def _alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing opened before."""
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    as_in_another_process()


def given(x: Any, y: Any, **more: Any) -> UserProblem:
    """The problem of functions that give these points."""
    return user_functions(user_code(model=lambda: None, data=lambda: (x, y), **more))


def record(problem: UserProblem, **fields: Any) -> Training:
    plain: dict[str, Any] = {
        "problem": problem, "train_size": 8, "lr": 1.0, "batch": 2, "model": "own", "test_size": 8,
    }  # fmt: skip
    return Training(**(plain | fields))


def line_of(path: Path, what: str) -> int:
    return 1 + [what in line for line in path.read_text().splitlines()].index(True)


# The guest leaves no trace.


def test_a_file_gives_its_points_as_they_are(write) -> None:
    problem = user_file(str(write(PLAIN)))
    x = np.random.default_rng(1).standard_normal((40, 3))
    assert (problem.points, problem.test_points, problem.changes) == (40, 0, False)
    everything = problem.train_set(40, 3)
    order = np.argsort(everything.x[:, 1])
    assert np.array_equal(everything.x[order], x[np.argsort(x[:, 1])])
    assert np.array_equal(everything.y, everything.x[:, 0] > 0)


def test_nothing_is_written_beside_it(write, tmp_path: Path) -> None:
    write("def points():\n    import beside_late\n    return beside_late.POINTS", "beside.py")
    write("import numpy as np\nPOINTS = np.eye(4), np.array([0, 1, 0, 1])", "beside_late.py")
    path = write(
        """
        import beside
        def model(): return None
        def data(): return beside.points()
        if __name__ == "__main__":
            open(__file__ + ".ran", "w").close()
        """
    )
    before = sorted(tmp_path.rglob("*"))
    assert user_file(str(path)).train_set(4, 0).x.sum() == 4
    assert sorted(tmp_path.rglob("*")) == before
    assert sys.dont_write_bytecode is False


def states() -> tuple[Any, ...]:
    kind, keys, *rest = np.random.get_state()
    return random.getstate(), kind, keys.tolist(), rest, torch.get_rng_state().tolist()


RANDOM = """
import random, numpy, torch
DRAWN = random.random(), numpy.random.rand(), torch.rand(1).item()
def model():
    return random.random(), numpy.random.rand(), torch.rand(1).item()
def data():
    numpy.random.shuffle(list(range(5)))
    return numpy.random.rand(20, 2) + DRAWN[2], torch.randperm(20) % 2
"""


def test_global_random_states_are_left_alone_and_seeded(write) -> None:
    path = str(write(RANDOM))
    before = states()
    problem = user_file(path)
    assert problem.train_set(20, 0).x.shape == (20, 2)
    one, same, other = (problem.code.call("model", seed) for seed in (5, 5, 2**63 - 1))
    assert states() == before
    assert one == same and not set(one) & set(other)
    random.seed(99), np.random.seed(99), torch.manual_seed(99)
    assert user_file(path) == problem
    assert one == problem.code.call("model", 5)


def test_random_states_are_put_back_after_an_error(write) -> None:
    path = write(RANDOM.replace("numpy.random.shuffle", "random.random(); 1 / 0; "))
    before = states()
    with pytest.raises(UserError, match="ZeroDivisionError"):
        user_file(str(path))
    assert states() == before


@pytest.mark.parametrize("inside", [False, True])
def test_data_drawn_by_torch_do_not_depend_on_who_imported_it(write, inside: bool) -> None:
    # In a process of its own: torch is first loaded by the user's file.
    top, within = ("", "import torch") if inside else ("import torch", "pass")
    path = write(
        f"""
        {top}
        def model(): return None
        def data():
            {within}
            return torch.randn(20, 2), torch.arange(20) % 2
        """
    )
    code = (
        "import sys; from sgdphase._own.problem import user_file\n"
        "assert 'torch' not in sys.modules\n"
        f"p = user_file({str(path)!r}); p.prepare(); print(p.digest)"
    )
    environment = os.environ | {"PYTHONPATH": str(Path(sgdphase.__file__).parents[1])}
    found = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True
    )
    assert found.stderr == "" and found.stdout.strip() == user_file(str(path)).digest


def test_what_it_prints_is_not_on_stdout(write, capsys: pytest.CaptureFixture[str]) -> None:
    path = write(PLAIN.replace("rng =", "print('data here'); rng =") + "\nprint('file here')")
    user_file(str(path)).prepare()
    out, err = capsys.readouterr()
    assert out == "" and "data here" in err and "file here" in err
    print("back")
    assert capsys.readouterr().out == "back\n"


def test_it_is_compiled_as_python_would(write) -> None:
    # Not with the `from __future__` of the module that loads it; and a BOM is no error.
    path = write("def model(x: int): return model.__annotations__['x']\nmodel(1).__name__")
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
    assert load(path).functions["model"](1) is int


# Errors are the user's, with file and line.

AT_TOP = {
    "def model(:": "",
    "spam": "NameError: name 'spam' is not defined",
    "import no_such_module_here": "ModuleNotFoundError: No module named 'no_such_module_here'",
    "np.zeros(3).reshape(2)": "ValueError: cannot reshape array of size 3",
    "import sys; sys.exit(3)": "the file ends here when it is loaded; a script that reads its own "
    "options is run by --command 'python ",
    "raise ValueError('one\\ntwo')": "ValueError: one two",
    "assert False": "AssertionError",
    "import bad_neighbour": "",
}


@pytest.mark.parametrize("wrong", AT_TOP)
def test_an_error_at_the_top_names_its_line(write, wrong: str) -> None:
    write("x = 1\nif x\n", "bad_neighbour.py")
    path = write(f"import numpy as np\n\n\n{wrong}  # here\n")
    with pytest.raises(UserError) as caught:
        user_file(str(path))
    said = str(caught.value)
    assert "\n" not in said and AT_TOP[wrong] in said
    place = "bad_neighbour.py, line 2" if "neighbour" in wrong else "mine.py, line 4"
    assert said.startswith(place)


@pytest.mark.parametrize("wrong", [w for w in AT_TOP if "def" not in w and "exit" not in w])
def test_an_error_in_data_names_its_line(write, wrong: str) -> None:
    write("x = 1\nif x\n", "bad_neighbour.py")
    path = write(f"import numpy as np\ndef model(): pass\ndef data():\n    x = 1\n    {wrong}\n")
    with pytest.raises(UserError) as caught:
        user_file(str(path))
    said = str(caught.value)
    assert "\n" not in said and AT_TOP[wrong] in said
    assert said.startswith("mine.py, line 5 in data")
    assert wrong in said


def test_an_error_deep_in_a_library_names_the_users_innermost_line(write) -> None:
    path = write(
        """
        import numpy as np, torch
        def model(): pass
        def helper(x):
            return torch.nn.functional.conv2d(x, x[0])  # wrong
        def data():
            return helper(torch.zeros(2, 2)), np.zeros(2)
        """
    )
    with pytest.raises(UserError, match=rf"^mine.py, line {line_of(path, '# wrong')} in helper"):
        user_file(str(path))


def test_an_error_in_a_neighbour_names_its_line(write) -> None:
    write("def points():\n\n    return 1 / 0\n", "neighbour_raises.py")
    path = write("import neighbour_raises\ndef model(): pass\ndata = neighbour_raises.points")
    with pytest.raises(UserError, match=r"^neighbour_raises.py, line 3 in points .*ZeroDivision"):
        user_file(str(path))


def test_the_line_is_that_of_the_file_as_it_is_now(write) -> None:
    text = "def model(): pass\ndef data():\n    return {}\n"
    for wrong in ("1 / 0", "2 / 0"):
        path = write(text.format(wrong))
        with pytest.raises(UserError, match=rf"line 3 in data \(return {wrong}\)"):
            user_file(str(path))
        os.utime(path, (1, 1))


@pytest.mark.parametrize(
    "data",
    [
        "def data(n): return n",
        "data = functools.partial(len)",
        "data = functools.lru_cache(lambda: 1 / 0)",
        "class data:\n    def __len__(self): return 3\n    def __getitem__(self, i): return 1 / 0",
        "def data():\n    return np.zeros((2, 2)), [[1, 2], [3]]",
        "def data():\n    return torch.zeros((2, 2), dtype=torch.bfloat16), [0, 1]",
        "def data():\n    return {1: 2}",
        "def data():\n    return [[0.0, 1.0], [1.0]], [0, 1]",
    ],
)
def test_whatever_is_wrong_with_data_is_one_line_about_the_users_file(write, data: str) -> None:
    path = write(f"import functools, torch\nimport numpy as np\ndef model(): pass\n{data}\n")
    with pytest.raises(InputError, match=r"\Amine\.py, [^\n]+\Z"):
        user_file(str(path))


def test_a_bug_of_ours_is_not_shown_as_the_users(monkeypatch: pytest.MonkeyPatch) -> None:
    ours: dict[str, Any] = {}
    file = Path(sgdphase.__file__).parent / "problems" / "broken.py"
    exec(compile("def broken(*a): raise KeyError('ours')", str(file), "exec"), ours)
    monkeypatch.setattr(own_data, "_arrays", ours["broken"])
    with pytest.raises(KeyError, match="ours"):
        given(np.eye(2), [0, 1])


def test_a_file_without_what_is_wanted(write, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"mine.py: has no model\(\) and no data\(\); must have"):
        user_file(str(write("x = 1")))
    with pytest.raises(InputError, match=r"has no data\(\); must have model\(\) and data\(\), or"):
        user_file(str(write("def model(): pass")))
    for path, why in ((tmp_path / "none.py", "No such file"), (tmp_path, "Is a directory")):
        with pytest.raises(InputError, match=rf"cannot be read \({why}"):
            user_file(str(path))
    latin = tmp_path / "latin.py"
    latin.write_bytes("# \xe9\n".encode("latin-1"))
    with pytest.raises(InputError, match="not a text in UTF-8"):
        user_file(str(latin))


# Data that change.

X = np.random.default_rng(0).standard_normal((12, 2))
TWO = np.array([0, 1] * 6)


@pytest.mark.parametrize("draw", ["np.random.rand()", "torch.rand(()).item()", "random.random()"])
def test_random_augmentation_is_noticed(write, draw: str) -> None:
    path = write(
        f"""
        import random, numpy as np, torch
        class Augmented(torch.utils.data.Dataset):
            def __len__(self): return 30
            def __getitem__(self, index): return np.full(3, index) + {draw}, index % 2
        def model(): return None
        def data(): return Augmented()
        """
    )
    problem = user_file(str(path))
    assert problem.changes
    problem.prepare()
    # One reading is kept, the same in every process.
    as_in_another_process()
    assert user_file(str(path)) == problem


# Identity.


def test_the_same_content_elsewhere_is_the_same_training(write, tmp_path: Path) -> None:
    here, there = user_file(str(write(PLAIN))), user_file(str(write(PLAIN, "there/other.py")))
    assert here.path != there.path and here == there
    assert record(here).key == record(there).key
    assert record(here, seed=1).key != record(here).key


def test_other_code_or_other_data_is_another_training(write, tmp_path: Path) -> None:
    np.savez(tmp_path / "points.npz", x=X, y=TWO)
    path = write(
        f"""
        import numpy as np
        def model(): return None
        def data():
            read = np.load({str(tmp_path / "points.npz")!r})
            return read["x"], read["y"]
        """
    )
    keys = [record(user_file(str(path))).key]
    # One number; the type; the labels; their names alone.
    near = np.where(X[3, 1] == X, np.nextafter(X, 9), X)
    for x, y in ((near, TWO), (X.astype("f4"), TWO), (X, 1 - TWO), (X, TWO + 5)):
        np.savez(tmp_path / "points.npz", x=x, y=y)
        keys.append(record(user_file(str(path))).key)
    path.write_text(path.read_text() + "\n# more\n")
    keys.append(record(user_file(str(path))).key)
    assert len(set(keys)) == 6


def test_test_data_are_part_of_the_identity(write) -> None:
    more = "\ndef test_data():\n    x, y = data()\n    return x[:{}], y[:{}]\n"
    some = [user_file(str(write(PLAIN + more.format(n, n)))) for n in (10, 20)]
    assert some[0] != some[1] and [p.test_points for p in some] == [10, 20]


def test_a_neighbour_that_changed_is_another_training(write) -> None:
    write("from other_beside import WIDTH\n", "changing/net_beside.py")
    path = write(PLAIN + "\nimport net_beside\nWIDTH = net_beside.WIDTH", "changing/mine.py")
    digests, widths = [], []
    for width in (3, 4, 3):
        write(f"WIDTH = {width}\n", "changing/other_beside.py")
        problem = user_file(str(path))
        digests.append(problem.digest)
        widths.append(vars(sys.modules["user_training"])["WIDTH"])
    assert widths == [3, 4, 3]
    assert digests[0] == digests[2] != digests[1]


def test_neighbours_of_one_name_are_told_apart(write) -> None:
    text = PLAIN + "\nfrom same_name import WIDTH"
    paths = [write(text, f"{name}/mine.py") for name in ("one", "two")]
    for number, path in enumerate(paths):
        write(f"WIDTH = {number}", f"{path.parent.name}/same_name.py")
    for number in (0, 1, 0):
        user_file(str(paths[number]))
        assert vars(sys.modules["user_training"])["WIDTH"] == number


@pytest.mark.parametrize("draw", ["os.urandom(20)", "secrets.token_bytes(20)"])
def test_data_that_differ_in_spite_of_seeds_are_refused(write, draw: str) -> None:
    path = write(
        f"""
        import os, secrets, numpy as np
        def model(): return None
        def data(): return np.frombuffer({draw}, np.uint8), np.arange(20) % 2
        """
    )
    problem = user_file(str(path))
    as_in_another_process()
    with pytest.raises(InputError, match=r"mine.py: .*must be the same every time \(use fixed"):
        problem.prepare()


def test_a_file_that_changed_since_is_refused(write) -> None:
    path = write(PLAIN)
    problem = user_file(str(path))
    path.write_text(path.read_text().replace("(1)", "(2)"))
    # What was read is what was asked about; a worker that reads the file now refuses it.
    before = problem.train_set(4, 0).x
    as_in_another_process()
    with pytest.raises(InputError, match="differs from one call to the next"):
        problem.train_set(4, 0)
    assert not np.array_equal(user_file(str(path)).train_set(4, 0).x, before)


def test_functions_of_another_session_are_refused() -> None:
    with pytest.raises(InputError, match="functions of another session: give the file"):
        UserProblem("", "0" * 64, 10).prepare()


def test_it_goes_through_records_and_pickles(write) -> None:
    path = str(write(PLAIN))
    training = record(user_file(path))
    again = Training.from_dict(training.as_dict())
    assert again == training and again.key == training.key
    assert isinstance(again.problem, UserProblem) and again.problem.path == path
    wired = pickle.loads(pickle.dumps(training))
    assert wired == training and wired.key == training.key
    as_in_another_process()
    assert np.array_equal(wired.problem.train_set(9, 2).x, training.problem.train_set(9, 2).x)


# Sets of a seed.


def rows(data: Any) -> set[tuple[float, ...]]:
    return set(map(tuple, data.x.tolist()))


def test_sets_are_disjoint_nested_and_of_their_seed(write) -> None:
    problem = user_file(str(write(PLAIN)))
    problem.check_sizes(30, 10)
    small, large, test = (
        problem.train_set(7, 5), problem.train_set(30, 5), problem.test_set(10, 5),
    )  # fmt: skip
    assert np.array_equal(large.x[:7], small.x)
    assert not rows(large) & rows(test) and len(rows(large) | rows(test)) == 40
    assert rows(problem.train_set(7, 6)) != rows(small)
    assert np.array_equal(problem.train_set(7, 5).x, small.x)
    for data in (small, test):
        assert np.array_equal(data.y, data.x[:, 0] > 0)
    for wrong in ((31, 10), (0, 10)):
        with pytest.raises(InputError, match=rf"train size = {wrong[0]}: must be from 1 to 30"):
            problem.check_sizes(*wrong)


def test_test_data_are_a_set_of_their_own() -> None:
    problem = given(X, TWO * 4, test_data=lambda: (X[:6] + 100, TWO[:6] * 4))
    problem.check_sizes(12, 6)
    assert rows(problem.train_set(12, 0)) == set(map(tuple, X.tolist()))
    for seed in (0, 1):
        assert rows(problem.test_set(6, seed)) == set(map(tuple, (X[:6] + 100).tolist()))
        assert np.array_equal(problem.test_set(5, seed).x, problem.test_set(6, 0).x[:5])
    assert sorted(problem.test_set(6, 0).y.tolist()) == sorted(TWO[:6].tolist())
    with pytest.raises(InputError, match=r"test size = 7: test_data\(\) gives 6 points"):
        problem.check_sizes(12, 7)
    with pytest.raises(InputError, match=r"test_data\(\): labels \[1\] are not among those of"):
        given(X, TWO * 4, test_data=lambda: (X, TWO))
    # A test set may lack a class, and hold one only.
    assert given(X, TWO, test_data=lambda: (X, TWO * 0 + 1)).test_set(12, 0).y.tolist() == [1] * 12


def test_code_that_trains_by_itself_has_no_points(write) -> None:
    problem = user_file(str(write("def train(lr, batch, train_size, seed): return lr")))
    assert (problem.points, problem.test_points) == (0, 0)
    problem.check_sizes(1000, 10)
    with pytest.raises(InputError, match=r"mine.py: has no data\(\); it trains by itself"):
        problem.train_set(1, 0)


def test_a_helper_called_train_is_no_training(write) -> None:
    text = (
        "import numpy as np\ndef train(model, loader, epochs=3): pass\n"
        "def model(): pass\ndef data(): return np.eye(4), [0, 1, 0, 1]\n"
    )
    assert user_file(write(text)).points == 4
    assert user_file(write(text.replace("model, loader, epochs=3", "**given"))).points == 0
