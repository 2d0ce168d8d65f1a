"""Compile what the tests call, once: workers that start together would each compile all of it."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import torch

import sgdphase as sp
from sgdphase.networks import MobileNet, _walk
from sgdphase.networks._passes import Passes
from sgdphase.networks._update import _add_compiled
from sgdphase.problems import TeacherTask

ROOT = Path(__file__).parents[1]
sys.path += [str(ROOT / "benchmarks"), str(ROOT / "tests" / "perceptron")]

from reference import reference_sgd  # noqa: E402
from test_stretches import STRETCHES, after_stretch  # noqa: E402


def main() -> None:
    """Call every function that numba keeps compiled."""
    task = TeacherTask(dim=8)
    for batch, momentum in ((4, 0.0), (64, 0.0), (4, 0.5)):
        sp.train(sp.Training(task, train_size=64, lr=1.0, batch=batch, momentum=momentum))
    for kind in (torch.float32, torch.float64):  # tests compare the second with the plain loop
        _walk._KIND = kind
        data = task.train_set(64, seed=0)
        points = sp.networks.Points(*(torch.tensor(a, dtype=kind) for a in (data.x, data.y)))
        training = sp.Training(task, train_size=64, lr=1.0, batch=4, model="fc")
        sp.networks.fit(sp.networks.FullyConnected(8).to(kind), points, points, training)
    sp.theory.averages(1.0, 1.0, chi=1.0)
    points = sp.perceptron.Points.of(task.train_set(64, seed=0))
    sp.simulate_sde(points, margin=0.1, temperature=1.0, dt=0.1, max_time=1.0)
    model = {"chi": 1.0, "dim": 8, "margin": 0.1, "temperature": 1.0}
    sp.online([1.0], **model)
    sp.fluctuations([1.0], **model)
    sp.online_ensemble([1.0], **model, size=2, seed=0)
    reference_sgd(points.z, margin=0.1, lr=1.0, batch=4, seed=0, max_steps=10)
    start = sp.simulate_sgd(points, margin=2**-7, lr=10.0, batch=5, max_steps=20).w
    for stretch in STRETCHES:
        after_stretch(stretch, points, start, seed=0, steps=1)
    image = sp.networks.Points(torch.ones(1, 1, 8, 8), torch.ones(1))
    training = sp.Training(sp.CifarAnimals(), train_size=1, lr=1.0, batch=1, model="mobilenet")
    sp.networks.fit(MobileNet(1, width=1), image, image, training)
    gradient = Passes.of(MobileNet(1, width=1), image.x)
    assert gradient is not None
    gradient.gradient(torch.arange(1), torch.ones(1))
    for kind in (np.float32, np.float64):
        _add_compiled(*np.zeros((3, 1), kind), kind(1))


if __name__ == "__main__":
    main()
