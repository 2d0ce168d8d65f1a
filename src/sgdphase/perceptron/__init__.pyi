from ._cost import delay as delay
from ._cost import expected_bytes as expected_bytes
from ._cost import expected_seconds as expected_seconds
from ._simulate import Points as Points
from ._simulate import Weights as Weights
from ._simulate import simulate_sde as simulate_sde
from ._simulate import simulate_sgd as simulate_sgd
from ._train import train as train

__all__ = ["Points", "Weights", "simulate_sde", "simulate_sgd"]
