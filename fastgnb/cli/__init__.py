"""The `fastgnb` command: arguments, messages and exit codes."""

from .entry import main, process

__all__ = ["main", "process"]
