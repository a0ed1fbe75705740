"""Learning of embeddings in which neighbors mean something: maps, starts, batches, descent, and when to stop."""
