from ._batch_table import equivalents as equivalents
from ._best_rates import BestRate as BestRate
from ._best_rates import BestRates as BestRates
from ._best_rates import rule as rule
from ._boundaries import LinePoint as LinePoint
from ._cells import Plane as Plane
from ._cells import plane_from_dataset as plane_from_dataset
from ._cells import plane_from_table as plane_from_table
from ._cells import plane_of as plane_of
from ._draw import draw as draw
from ._draw import draw_figure as draw_figure
from ._draw import draw_legend as draw_legend
from ._draw import draw_lines as draw_lines
from ._draw import draw_names as draw_names
from ._draw import draw_plane as draw_plane
from ._draw import draw_star as draw_star
from ._draw_runs import draw_runs as draw_runs
from ._equivalents import Equivalent as Equivalent
from ._equivalents import Equivalents as Equivalents
from ._growth import growth as growth
from ._phase import Best as Best
from ._phase import Cell as Cell
from ._phase import PhaseDiagram as PhaseDiagram
from ._phase import phase_diagram as phase_diagram
from ._rate_law import RateLaw as RateLaw
from ._regimes import REGIMES as REGIMES
from ._regimes import TARGETS as TARGETS
from ._regimes import Regime as Regime
from ._run_table import RunTable as RunTable
from ._run_table import run_table as run_table
from ._run_table import run_tables as run_tables
from ._steps import CriticalBatch as CriticalBatch
from ._steps import steps_to_target as steps_to_target
from ._table_equivalents import table_equivalents as table_equivalents
from ._training_runs import Setting as Setting
from ._training_runs import TrainingRun as TrainingRun

__all__ = [
    "Best", "BestRate", "BestRates", "Cell", "CriticalBatch", "Equivalent", "Equivalents",
    "LinePoint", "PhaseDiagram", "Plane", "RateLaw", "RunTable", "Setting", "TrainingRun", "draw",
    "draw_figure", "draw_runs", "equivalents", "growth", "phase_diagram", "plane_from_dataset",
    "plane_from_table", "rule", "run_table", "run_tables", "steps_to_target", "table_equivalents",
]  # fmt: skip
