"""The figures of the paper: what to run, how to draw it, which claims it decides."""
