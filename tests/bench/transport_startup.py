"""From spawn to the reply to `initialize`: ours, a stock pygls server, and a bare interpreter, in one run.

`python tests/bench/transport_startup.py [rounds]`. Everything runs from compiled bytecode, which pip writes for what it
installs: a work tree in an environment that forbids bytecode would compile every module at every start.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

HERE = Path(__file__).parent
INITIALIZE = (
    b'{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"processId":null,"rootUri":null,"capabilities":{}}}'
)
STOCK = [sys.executable, str(HERE / "transport_floor.py"), "stock"]
BYTECODE = tempfile.TemporaryDirectory()
ENVIRONMENT = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
ENVIRONMENT["PYTHONPYCACHEPREFIX"] = BYTECODE.name
OURS = [sys.executable, "-m", "sidecar", "--store", ":memory:"]


def to_initialize(command: Sequence[str]) -> float:
    """Seconds from spawn to the first byte of the reply."""
    start = time.perf_counter()
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=ENVIRONMENT
    ) as process:
        assert process.stdin and process.stdout
        process.stdin.write(b"Content-Length: %d\r\n\r\n%b" % (len(INITIALIZE), INITIALIZE))
        process.stdin.flush()
        assert process.stdout.read(15) == b"Content-Length:"
        seconds = time.perf_counter() - start
        process.kill()
    return seconds


def to_end(*arguments: str) -> float:
    """Seconds that a whole interpreter run takes."""
    start = time.perf_counter()
    subprocess.run([sys.executable, *arguments], check=True, stdout=subprocess.DEVNULL, env=ENVIRONMENT)
    return time.perf_counter() - start


def main(rounds: int = 9) -> None:
    """Print the medians and the ratios."""
    taken: dict[str, list[float]] = {"stock": [], "ours": [], "help": [], "interpreter": []}
    for command in (STOCK, OURS):
        to_initialize(command)  # writes the bytecode
    for _ in range(rounds):
        taken["stock"].append(to_initialize(STOCK))
        taken["ours"].append(to_initialize(OURS))
        taken["help"].append(to_end("-m", "sidecar", "--help"))
        taken["interpreter"].append(to_end("-c", "pass"))
    medians = {name: statistics.median(times) for name, times in taken.items()}
    for name, seconds in medians.items():
        print(f"{name:12} {seconds * 1000:7.0f} ms  {seconds / medians['stock']:5.2f} of stock")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
