"""Predictions: step rows of searches as schedules, GOAL traces, and their simulation by SimGrid."""
