"""Estimators with scikit-learn's interface. ``ESTIMATORS`` lists them; what is listed is tested and documented."""
