"""The figures of the paper: what to run, how to draw it, which claims it decides.

A figure is a `Figure`: a `Grid` of trainings at each scale, a drawing (`Curves`), and claims
(`Exponent`, `Constant`, `Collapses`, `Above`, `Below`), each with its prediction, its tolerance and
the reason for it. `FIGURES` are all by name, `make` runs, draws and decides one.

The kit: `_figure`, `_make` (runs, draws, decides, verifies), `_tables` (runs as files), `_claim`
(rules), `_ledger` (verdicts), `_measure` (numbers with intervals), `_runs`, `_draw`, `_planes`
(phase planes), `_errors` (test errors in them), `_critical` (`B*` of curves), `_settings` (what
networks train); `gallery` writes the page. All other modules are content, and figures of one kind
share a file:

=========  =======================================================================
fig1a      1A (chi = 1 and 0), X2: the perceptron's phase diagrams
fig1b      1B, 1C: those of the networks; fig1b_ce: with the cross-entropy
fig2       2, S1A: trajectories in the plane of weights, without and with momentum
fig3       3 and its inset, S7A: what is learnt in time
fig4a, 4b  4A: B* of the perceptron; 4B, S7B, S8: B* of networks
figS1b     S1B, S2B: weight decay in time; figS2a: at the end of training
figS3, S4  the kernel of networks; networks on the teacher task
figS5      S5, S6: networks at large margin
figS9-11   S9, S10, S11: crossover times and final weights
theory     claims of the theory alone; figX1: exponents at large P
figX3      the stripe task, and a diagonal linear net
=========  =======================================================================
"""

from sgdphase._lazy import attach

__getattr__, __dir__, __all__ = attach(__name__)
