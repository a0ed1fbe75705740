"""Arrays: dense and sparse rows, targets and weights, checked at one door."""
