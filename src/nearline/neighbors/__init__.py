"""Nearest neighbors: metrics, exact search through lower bounds, trees, approximate search, votes."""
