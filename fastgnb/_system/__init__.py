"""The operating system: whole files, signals, thread limits, optional packages."""
