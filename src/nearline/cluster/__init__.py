"""Data larger than memory, or than one machine: estimators on the arrays and frames of Dask.

Give an estimator a ``dask.array`` or ``dask.dataframe`` in place of an array: nothing else changes.
"""

from nearline.cluster._clients import connected, placed
from nearline.cluster._crews import ClusterError, streaming
from nearline.cluster.predictions import write_predictions

__all__ = ["ClusterError", "connected", "placed", "streaming", "write_predictions"]
