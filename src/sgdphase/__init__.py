"""Which learning rate goes with a larger batch, and from which batch on does none help?

`diagnose` answers this for your training. The science behind it is here too: simulation and theory
of the perceptron of "On the different regimes of stochastic gradient descent" (Sclocchi and Wyart),
sweeps of the plane of batch sizes and learning rates, phase diagrams.

>>> import sgdphase as sp
>>> training = sp.Training(sp.TeacherTask(dim=32, chi=1.0), train_size=256, lr=2.0, batch=1)
>>> outcome = sp.train(training)
>>> outcome.status, outcome["unfitted"]
('fitted', 0.0)
"""

from sgdphase._lazy import attach

__getattr__, __dir__, __all__ = attach(__name__)
