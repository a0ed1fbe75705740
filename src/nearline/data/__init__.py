"""Files and folders of tables, texts, images and embeddings, read as rows and labels for a contest."""

from nearline.data._read import FORMATS, batches, read, row_lines
from nearline.data.base import Column, DataError, Description, Format, Schema, Table
from nearline.data.pixels import image_features

__all__ = [
    "FORMATS",
    "Column",
    "DataError",
    "Description",
    "Format",
    "Schema",
    "Table",
    "batches",
    "image_features",
    "read",
    "row_lines",
]
