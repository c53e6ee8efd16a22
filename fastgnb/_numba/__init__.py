"""The only room that knows Numba and LLVM: decorators, threads, cache and vectors."""
