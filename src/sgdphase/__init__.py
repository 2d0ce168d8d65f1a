"""sgdphase tells which regime of SGD a training is in.

Simulation and theory of the perceptron of "On the different regimes of stochastic gradient
descent" (Sclocchi and Wyart), sweeps of the (batch size, learning rate) plane, phase diagrams.

>>> import sgdphase as sp
>>> training = sp.Training(sp.TeacherTask(dim=32, chi=1.0), train_size=256, lr=2.0, batch=1)
>>> outcome = sp.train(training)
>>> outcome.status, outcome["unfitted"]
('fitted', 0.0)
"""

from sgdphase._diagnose import Diagnosis, FittedDiagnosis, diagnose, diagnose_until_fitted
from sgdphase._records import Outcome, Training
from sgdphase._sweep import DaskWorkers, Stopped, Store, SweepError, grid, sweep, train
from sgdphase.diagram import PhaseDiagram, phase_diagram, plane_from_dataset, plane_from_table
from sgdphase.errors import InputError
from sgdphase.perceptron import Points, Weights, simulate_sde, simulate_sgd
from sgdphase.problems import Arrays, CifarAnimals, Dataset, MnistParity, TeacherTask
from sgdphase.stats import Curve, Estimate, collapse, power_law
from sgdphase.theory import (
    asymptotic,
    asymptotic_fluctuations,
    averages,
    constants,
    first_step,
    fluctuations,
    online,
    online_ensemble,
    scales,
)

__all__ = [
    "Arrays",
    "CifarAnimals",
    "Curve",
    "DaskWorkers",
    "Dataset",
    "Diagnosis",
    "Estimate",
    "FittedDiagnosis",
    "InputError",
    "MnistParity",
    "Outcome",
    "PhaseDiagram",
    "Points",
    "Stopped",
    "Store",
    "SweepError",
    "TeacherTask",
    "Training",
    "Weights",
    "asymptotic",
    "asymptotic_fluctuations",
    "averages",
    "collapse",
    "constants",
    "diagnose",
    "diagnose_until_fitted",
    "first_step",
    "fluctuations",
    "grid",
    "online",
    "online_ensemble",
    "phase_diagram",
    "plane_from_dataset",
    "plane_from_table",
    "power_law",
    "scales",
    "simulate_sde",
    "simulate_sgd",
    "sweep",
    "train",
]
