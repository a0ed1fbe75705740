"""Examples: each file has a ``main`` that tries all models on one kind of data and shows the results."""
