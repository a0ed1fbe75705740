"""Data larger than memory, or than one machine: estimators on the arrays and frames of Dask.

Give an estimator a ``dask.array`` or ``dask.dataframe`` in place of an array: nothing else changes.
"""
