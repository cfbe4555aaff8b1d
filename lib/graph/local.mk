# lib/graph
