"""The step of the weights with l1 and weight decay, against plain loops."""

from __future__ import annotations

from itertools import islice
from typing import Any

import pytest
import torch

from sgdphase.networks import fit
from sgdphase.networks._batches import batches


@pytest.mark.parametrize("momentum", [0.0, 0.5])
@pytest.mark.parametrize("weight_decay", [0.0, 0.02])
def test_l1_adds_the_sign_of_the_weights(
    record: Any, points: Any, network: Any, momentum: float, weight_decay: float
) -> None:
    training = record(
        l1=0.01, weight_decay=weight_decay, momentum=momentum, lr=0.1, margin=1.0, max_steps=60
    )
    data, ours, plain = points(training), network(), network()
    outcome = fit(ours, data, points(training, "test"), training)
    with torch.no_grad():
        f0 = plain(data.x)
    velocity = [torch.zeros_like(p) for p in plain.parameters()]
    for batch in islice(batches(training), 60):
        F = plain(data.x[batch]) - f0[batch]
        plain.zero_grad()
        torch.clamp(1.0 - data.y[batch] * F, min=0).mean().backward()
        with torch.no_grad():
            for p, v in zip(plain.parameters(), velocity, strict=True):
                v.mul_(momentum).sub_(0.1 * (p.grad + weight_decay * p + 0.01 * p.sign()))
                p += v
    # Its budget is its end.
    assert (outcome.status, outcome.steps) == ("budget", 60)
    for a, b in zip(ours.parameters(), plain.parameters(), strict=True):
        assert torch.allclose(a, b, rtol=0, atol=1e-12)


def test_l1_goes_on_where_all_points_are_fitted(record: Any, points: Any, network: Any) -> None:
    training = record(l1=1e-4, max_steps=3000)
    outcome = fit(network(), points(training), points(training, "test"), training)
    assert (outcome.status, outcome.steps) == ("budget", 3000)
