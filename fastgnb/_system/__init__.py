"""The operating system: files that appear whole, signals, thread limits, optional packages.

Nothing here knows rows, statistics or models.

Where to start
    atomic.py         write a file under a temporary name, and rename it in one step
    early_flush.py    its content is written to the disk before the flush that waits for it
    remote/           paths with a scheme, such as s3://bucket/key: read, written, noticed to change
    signals.py        Ctrl-C and SIGTERM in a long run: noticed, and cleaned up after
    thread_limits.py  `fastgnb.threads`, which is --threads too; `_numba/threads.py` decides how
                      many threads a kernel then uses
    optional.py       optional packages, and the message that names their extra
    lazy.py           public names of a package that are loaded on first use
    context.py        a value for each context (see `contextvars`) that pickles leave out

May import: no other room.
"""
