"""Parts of the tests that are run by themselves."""

# Runs of a part of the tests, and the marks that take a test out of each. A test without these
# marks is in all of them, so that a new one is run everywhere. pyproject.toml explains the marks.
LEFT_OUT = {
    "quick": {"slow", "fresh"},
    "versions": {"slow", "any_version"},
    "lines": {"slow", "fresh", "compiled", "no_new_lines"},
}
