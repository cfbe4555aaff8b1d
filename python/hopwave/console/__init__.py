"""What hopwave-study prints while a study runs, before it and after it."""
