"""Studies: what the statistics claim, measured on simulated data whose truth is known."""
