"""Hopwave in Python: the commands of hopwave-study."""
