"""Run one command and report its seconds and peak memory; a small process between the two.

The kernel counts the memory of whoever starts a program into the peak of that program until it
has been loaded, so the one who starts it must be smaller than what is measured. For this reason
this file imports little, and nothing of ours: it is run by its path, in isolated mode.

Arguments: the file for the report, the core or ``-``, then the command.
"""

import json
import os
import sys
import time
from pathlib import Path


def main() -> None:
    """Pin this process, run the command with our standard streams, write the report."""
    report, core, *command = sys.argv[1:]
    if core != "-":
        os.sched_setaffinity(0, {int(core)})
    began = time.perf_counter()
    child = os.posix_spawnp(command[0], command, os.environ)
    _, status, usage = os.wait4(child, 0)
    seconds = time.perf_counter() - began
    # ru_maxrss: kilobytes on Linux, bytes on macOS (getrusage(2)).
    peak = usage.ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    exit_code = os.waitstatus_to_exitcode(status)
    measured = {
        "seconds": seconds,
        "cpu_seconds": usage.ru_utime + usage.ru_stime,
        "peak_bytes": peak,
        "exit_code": exit_code,
    }
    Path(report).write_text(json.dumps(measured), encoding="ascii")


if __name__ == "__main__":
    main()
