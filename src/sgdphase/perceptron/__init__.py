"""Compiled simulation of the paper's model. Knows nothing of sweeps and files."""

from sgdphase.perceptron._cost import expected_seconds
from sgdphase.perceptron._simulate import Points, Weights, simulate_sde, simulate_sgd
from sgdphase.perceptron._train import train

__all__ = ["Points", "Weights", "expected_seconds", "simulate_sde", "simulate_sgd", "train"]
