"""The page of a study, results/index.html: one file, which opens without a network."""
