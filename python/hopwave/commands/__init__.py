"""The commands of hopwave-study: a module each, and what they share."""
