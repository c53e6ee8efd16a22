"""What a measurement records about the machine."""

from __future__ import annotations

from pathlib import Path

import pytest

pytestmark = pytest.mark.any_version

WORK = """
import subprocess, sys, time
if sys.argv[1] == "child":
    subprocess.run([sys.executable, "-c", sys.argv[2], "grandchild", ""], check=True)
else:
    while time.process_time() < 0.5:
        pass
    print("done", flush=True)
    sys.stdin.read()
"""

# In a process that has started no others, which might end meanwhile.
SECONDS = f"""
import subprocess, sys
from bench import environment
work = {WORK!r}
words = [sys.executable, "-c", work, "child", work]
before = environment._seconds_of_descendants()
with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
    line = child.stdout.readline().decode().strip()
    print(before, line, environment._seconds_of_descendants() > 0.4)
"""


@pytest.mark.skipif(not Path("/proc/stat").exists(), reason="the system does not say")
def test_processes_that_this_one_has_started_are_not_others(bench, python):
    assert python(SECONDS) == "0.0 done True\n"
