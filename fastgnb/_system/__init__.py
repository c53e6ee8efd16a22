"""The operating system: files that appear whole, signals, thread limits, optional packages.

Nothing here knows rows, statistics or models.

Where to start
    atomic.py         write a file under a temporary name, and rename it in one step
    signals.py        Ctrl-C and SIGTERM in a long run: noticed, and cleaned up after
    thread_limits.py  the limit of --threads, for one call; `_numba/threads.py` decides how many
                      threads a kernel then uses
    optional.py       pyarrow and tqdm, and the message that names the extra that brings them
    lazy.py           public names of a package that are loaded on first use
    context.py        a value for each context (see `contextvars`) that pickles leave out

May import: no other room.
"""
