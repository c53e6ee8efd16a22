"""The error of input files that cannot be used."""

__all__ = ["SourceError"]


class SourceError(ValueError):
    """Input that cannot be used; the message names file, column and row where known."""
