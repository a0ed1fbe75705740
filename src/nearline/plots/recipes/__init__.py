"""How each picture of the gallery is made of labeled rows: which model is fitted, and what of it is drawn."""
