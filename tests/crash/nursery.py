"""Begin replicas from a process that has loaded everything: that takes longer than what they do.

`python -m tests.crash.nursery`: for each path of an order on standard input, fork, carry it out in
the child, and print the child's exit status as `waitpid` returns it (negative for a signal).
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import traceback
from pathlib import Path

from tests.crash.replica import Order, Replica


def main() -> None:
    """Serve until standard input ends."""
    for line in sys.stdin:
        pid = os.fork()
        if not pid:
            _carried_out(Path(line.strip()))
        _, status = os.waitpid(pid, 0)
        print(os.waitstatus_to_exitcode(status), flush=True)


def _carried_out(path: Path) -> None:
    code = 1
    try:
        order = Order(**json.loads(path.read_text(encoding="utf-8")))
        asyncio.run(Replica(order=order, quiet=True).run())
        code = 0
    except BaseException:  # noqa: BLE001 - a child ends here, whatever it was
        traceback.print_exc()
    finally:
        sys.stderr.flush()
        os._exit(code)


if __name__ == "__main__":
    main()
