"""Networks in PyTorch: architectures, training to zero hinge loss, observables."""

from sgdphase.errors import InputError

try:
    import torch  # noqa: F401
except ModuleNotFoundError as error:
    if error.name != "torch":
        raise
    raise InputError("networks need PyTorch: pip install 'sgdphase[networks]'") from None

from sgdphase.networks._cost import expected_seconds
from sgdphase.networks._fc import FullyConnected
from sgdphase.networks._mobilenet import MobileNet
from sgdphase.networks._train import Points, fit, train

__all__ = ["FullyConnected", "MobileNet", "Points", "expected_seconds", "fit", "train"]
