"""`python -m fastgnb`."""

import sys

from .cli.entry import process

if __name__ == "__main__":
    sys.exit(process())
