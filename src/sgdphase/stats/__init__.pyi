from ._bootstrap import LEVEL as LEVEL
from ._bootstrap import REPLICATES as REPLICATES
from ._bootstrap import interval as interval
from ._bootstrap import level_difference as level_difference
from ._bootstrap import line_fit as line_fit
from ._bootstrap import linear_fit as linear_fit
from ._bootstrap import pooled as pooled
from ._bootstrap import quantile as quantile
from ._bootstrap import seed_means as seed_means
from ._bootstrap import seed_replicates as seed_replicates
from ._collapse import Collapse as Collapse
from ._collapse import Curve as Curve
from ._collapse import collapse as collapse
from ._collapse import effective_collapses as effective_collapses
from ._crossing import crossing as crossing
from ._crossover import Crossovers as Crossovers
from ._crossover import crossovers as crossovers
from ._curve_end import curve_end as curve_end
from ._estimate import Estimate as Estimate
from ._estimate import Plain as Plain
from ._estimate import digits as digits
from ._estimate import duration as duration
from ._estimate import plain as plain
from ._estimate import seconds_of as seconds_of
from ._estimate import shown as shown
from ._estimate import shown_whole as shown_whole
from ._loglinear import LogLinear as LogLinear
from ._loglinear import logarithms as logarithms
from ._loglinear import loglinear as loglinear
from ._power_law import PowerLaw as PowerLaw
from ._power_law import effective_power_laws as effective_power_laws
from ._power_law import power_law as power_law
from ._powers import nearest_power as nearest_power
from ._powers import power_of_two as power_of_two
from ._powers import power_of_two_tex as power_of_two_tex
from ._powers import power_or_digits as power_or_digits
from ._powers import powers as powers
from ._powers import whole_powers as whole_powers

__all__ = [
    "Collapse", "Crossovers", "Curve", "Estimate", "LogLinear", "PowerLaw", "collapse",
    "crossovers", "effective_collapses", "effective_power_laws", "loglinear", "power_law",
    "powers", "whole_powers",
]  # fmt: skip
