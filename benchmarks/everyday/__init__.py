"""The sizes most people have: every estimator that scikit-learn has too, on tables of many shapes."""
