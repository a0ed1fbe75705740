"""Records that several floors share: explanations, parameters of objects, declarations for files, visible text."""
