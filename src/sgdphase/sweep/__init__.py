"""Many trainings, each done once: plan, store, workers. Knows not what a training computes."""

from sgdphase.sweep.cluster import DaskWorkers
from sgdphase.sweep.plan import Plan, grid
from sgdphase.sweep.progress import Progress, progress_on
from sgdphase.sweep.run import Run
from sgdphase.sweep.runner import Stopped, missing, sweep
from sgdphase.sweep.store import Store
from sgdphase.sweep.storefile import SweepError
from sgdphase.sweep.table import Table, table_of
from sgdphase.sweep.tally import Summary
from sgdphase.sweep.trainers import train
from sgdphase.sweep.workers import Workers

__all__ = [
    "DaskWorkers",
    "Plan",
    "Progress",
    "Run",
    "Stopped",
    "Store",
    "Summary",
    "SweepError",
    "Table",
    "Workers",
    "grid",
    "missing",
    "progress_on",
    "sweep",
    "table_of",
    "train",
]
