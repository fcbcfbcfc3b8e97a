"""Numeric kernels in numpy and numba: the only compiled code."""
