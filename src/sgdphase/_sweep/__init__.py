"""Many trainings, each done once: plan, store, workers. Knows no trainer from inside."""

from sgdphase._sweep.cluster import DaskWorkers
from sgdphase._sweep.plan import Plan, grid
from sgdphase._sweep.progress import Progress, progress_on
from sgdphase._sweep.run import Run
from sgdphase._sweep.runner import Stopped, missing, sweep
from sgdphase._sweep.store import Store
from sgdphase._sweep.storefile import SweepError
from sgdphase._sweep.table import Table, table_of
from sgdphase._sweep.tally import Summary
from sgdphase._sweep.trainers import train
from sgdphase._sweep.workers import Workers

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
