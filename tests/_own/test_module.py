"""Starting weights of the user's model that no seed changes are said."""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from pathlib import Path

import pytest

from sgdphase._own import user_file

pytest.importorskip("torch")
from sgdphase._own.module import seed_notes

Write = Callable[..., Path]


DATA = """
import numpy as np
def data():
    return np.random.rand(40, 3), np.arange(40) % 2
"""


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
