"""The figures of the paper: what to run, how to draw it, which claims it decides.

A figure is a `Figure` (`figure.py`). Its numbers come from `measure`, its verdicts from `claim`,
its curves from `draw`, the phase planes from `planes`, what networks train from `settings`. Figures
of one kind share a file:

=========  =======================================================================
fig1a      1A (chi = 1 and 0), X2: the perceptron's phase diagrams
fig1b      1B, 1C: those of the networks
fig2       2, S1A: trajectories in the plane of weights, without and with momentum
fig3       3 and its inset, S7A: what is learnt in time
fig4a, 4b  4A: B* of the perceptron; 4B, S7B, S8: B* of networks
figS1b     S1B, S2B: weight decay in time; figS2a: at the end of training
figS3, S4  the kernel of networks; networks on the teacher task
figS5      S5, S6: networks at large margin
figS9-11   S9, S10, S11: crossover times and final weights
theory     claims of the theory alone; figX1: exponents at large P
=========  =======================================================================
"""
