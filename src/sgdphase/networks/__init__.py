"""Networks in PyTorch: architectures, training to zero hinge loss, observables.

What a training is expected to cost is known without PyTorch.
"""

from typing import Any

from sgdphase._lazy import attach
from sgdphase.errors import InputError

_load, __dir__, __all__ = attach(__name__)


def __getattr__(name: str) -> Any:
    try:
        return _load(name)
    except ModuleNotFoundError as error:
        if error.name != "torch":
            raise
        raise InputError("networks need PyTorch: pip install 'sgdphase[networks]'") from None
