"""The error of input files that cannot be used."""

__all__ = ["SourceError"]


class SourceError(ValueError):
    """The error for files of rows that cannot be used.

    The message names file, column and row where these are known.

    See Also
    --------
    fastgnb.files.fit : Fit an estimator to files.
    """
