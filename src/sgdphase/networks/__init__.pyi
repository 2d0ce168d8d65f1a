from ._cost import expected_bytes as expected_bytes
from ._cost import expected_seconds as expected_seconds
from ._device import use_device as use_device
from ._device import use_one_thread as use_one_thread
from ._fc import FullyConnected as FullyConnected
from ._mobilenet import MobileNet as MobileNet
from ._train import Points as Points
from ._train import fit as fit
from ._train import train as train

__all__ = ["FullyConnected", "MobileNet", "Points", "fit", "use_device"]
