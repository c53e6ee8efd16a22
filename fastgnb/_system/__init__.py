"""The operating system: files that appear whole, signals, thread limits, optional packages.

Nothing here knows rows, statistics or models.

Where to start
    atomic.py         write a file under a temporary name, and rename it in one step
    signals.py        Ctrl-C and SIGTERM in a long run: noticed for certain, and cleaned up after
    thread_limits.py  the limit that --threads and a caller set on the number of threads, for one
                      call;
                      how many threads a kernel then takes is decided in `_numba`
    optional.py       pyarrow and tqdm, and the message that names the extra that brings them
    context.py        a value for each context (see `contextvars`) that pickles leave out

May import: no other room.
"""
