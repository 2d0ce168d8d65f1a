from ._cost import delay as delay
from ._cost import expected_bytes as expected_bytes
from ._cost import expected_seconds as expected_seconds
from ._device import use_device as use_device
from ._device import use_one_thread as use_one_thread
from ._diagonal import DiagonalLinear as DiagonalLinear
from ._fc import FullyConnected as FullyConnected
from ._mobilenet import MobileNet as MobileNet
from ._train import Points as Points
from ._train import fit as fit
from ._train import train as train
from ._vgg import VGG11 as VGG11
from ._vgg import PlainCNN as PlainCNN

__all__ = [
    "VGG11",
    "DiagonalLinear",
    "FullyConnected",
    "MobileNet",
    "PlainCNN",
    "Points",
    "fit",
    "use_device",
]
