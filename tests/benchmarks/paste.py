"""Time the library's diagnosis of one file's bytes, in a process of its own.

Prints one JSON object: the seconds of each call by the clock and on the core, the first call
after nothing but the import, and the report of the last.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

from bot.diagnosis import diagnose_bytes


def main() -> None:
    """Diagnose a file's bytes as often as told and print times and report."""
    path, times = sys.argv[1:]
    data = Path(path).read_bytes()
    seconds, cpu_seconds = [], []
    for _ in range(int(times)):
        began, cpu_began = time.perf_counter(), time.process_time()
        report = diagnose_bytes(data)
        seconds.append(time.perf_counter() - began)
        cpu_seconds.append(time.process_time() - cpu_began)
    print(
        json.dumps(
            {
                "seconds": seconds,
                "cpu_seconds": cpu_seconds,
                "report": json.loads(report.to_json()),
            }
        )
    )


if __name__ == "__main__":
    main()
