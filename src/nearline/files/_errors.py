"""What can be wrong with a model file."""


class ModelFileError(ValueError):
    """A model cannot be written to a file, or a file is no intact model; the sentence says which, and what to do.

    Examples
    --------
    >>> from nearline.files import load
    >>> load("nowhere.nearline")
    Traceback (most recent call last):
    ...
    nearline.files.ModelFileError: There is no file nowhere.nearline: give the path of one that nearline.files.save wrote.
    """

    __module__ = "nearline.files"


class ModelFileWarning(UserWarning):
    """A model was written with another version of scikit-learn, which may read its state differently."""

    __module__ = "nearline.files"
