# lib/engine
