"""Parts of the tests that are run by themselves."""

# Tests that run every line of the kernels, which coverage sees without the compiler only: folders
# and files, from that of the tests on.
OF_KERNELS = (
    "kernels/",
    "estimators/test_mixed.py",
    "estimators/test_mixed_stats.py",
    "input/test_label_types.py",
    "stats/test_class_stats.py",
    "stats/test_mixed_chunks.py",
)

# Runs of a part of the tests, and the marks that take a test out of each. A test without these
# marks is in all of them, so that a new one is run everywhere. pyproject.toml explains the marks.
LEFT_OUT = {
    "quick": {"slow", "engine", "fresh"},
    "versions": {"slow", "engine", "any_version"},
    "lines": {"slow", "engine", "fresh", "compiled", "no_new_lines"},
}
