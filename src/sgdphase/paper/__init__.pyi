from ._claim import Above as Above
from ._claim import Below as Below
from ._claim import Collapses as Collapses
from ._claim import Constant as Constant
from ._claim import Each as Each
from ._claim import Exponent as Exponent
from ._claim import Tolerance as Tolerance
from ._draw import Curves as Curves
from ._figure import FIGURES as FIGURES
from ._figure import SCALES as SCALES
from ._figure import Figure as Figure
from ._figure import Grid as Grid
from ._figure import chosen as chosen
from ._ledger import Claim as Claim
from ._ledger import Claims as Claims
from ._ledger import totals as totals
from ._make import collect as collect
from ._make import cost as cost
from ._make import make as make
from ._make import read_claims as read_claims
from ._make import redraw as redraw
from ._make import verify as verify
from ._measure import Mean as Mean
from ._measure import Slope as Slope
from ._measure import above_critical as above_critical
from ._measure import below_critical as below_critical
from ._runs import Runs as Runs

__all__ = [
    "FIGURES", "Above", "Below", "Claim", "Claims", "Collapses", "Constant", "Curves", "Each",
    "Exponent", "Figure", "Grid", "Runs", "Tolerance", "make", "redraw",
]  # fmt: skip
