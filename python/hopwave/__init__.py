"""Hopwave in Python: the commands of hopwave-study."""

__version__ = "0.1.0"
