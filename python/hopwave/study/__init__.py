"""Studies: their configuration, methods and machines, and what their plots and tables share."""
