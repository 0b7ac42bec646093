"""How fast and how lean a large Claude Code session is read and imported, beside `json.loads` over its lines.

    python tests/bench/formats_claude.py [megabytes]

Prints two ratios: reading alone, and the whole command `history-sidecar import FILE` into a new store on disk, start of
the process included. Ratios are of wall-clock time; the processor time of both processes is printed beside them, since
on a busy machine only that says anything. The goal is 1/3 and less than 300 MB for 100 MB.
"""

from __future__ import annotations

import json
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path


def write_session(path: Path, megabytes: float) -> int:
    """Write a session in the shape of real ones: half its bytes in tool results, repeated in `toolUseResult`."""
    dice = random.Random(7)
    words = [f"word{number}" for number in range(5000)] + ["\n", '"quoted"', "schön", "数"]
    parent, size, number = None, 0, 0
    base = {"isSidechain": False, "userType": "external", "entrypoint": "cli", "cwd": "/srv/work", "sessionId": "s-1",
            "version": "2.1.197", "gitBranch": "main"}  # fmt: skip
    usage = {"input_tokens": 1000, "cache_creation_input_tokens": 10, "cache_read_input_tokens": 400,
             "output_tokens": 20, "service_tier": "standard"}  # fmt: skip

    def text(count: int) -> str:
        return " ".join(dice.choices(words, k=count))

    with path.open("w", encoding="utf-8") as file:
        while size < megabytes * 1e6:
            turn: list[dict] = [{"type": "user", "message": {"role": "user", "content": text(20)}}]
            for step in range(4):
                answer = {"id": f"msg_{number}_{step}", "type": "message", "role": "assistant", "model": "claude-4-5",
                          "stop_reason": "tool_use", "stop_sequence": None, "usage": usage}  # fmt: skip
                call = {"command": text(15), "description": text(5)}
                output = text(dice.choice([20, 100, 600]))
                for block in (
                    {"type": "thinking", "thinking": text(40), "signature": "c2ln" * 60},
                    {"type": "text", "text": text(30)},
                    {"type": "tool_use", "id": f"toolu_{number}_{step}", "name": "Bash", "input": call},
                ):
                    turn.append({"type": "assistant", "message": {**answer, "content": [block]}})
                result = {"tool_use_id": f"toolu_{number}_{step}", "type": "tool_result", "content": output}
                turn.append({"type": "user", "message": {"role": "user", "content": [result]},
                             "toolUseResult": {"stdout": output, "stderr": "", "interrupted": False}})  # fmt: skip
            for record in turn:
                number += 1
                uuid = f"00000000-0000-4000-8000-{number:012d}"
                stamp = f"2026-11-30T{number // 3600 % 24:02d}:{number // 60 % 60:02d}:{number % 60:02d}.250Z"
                line = json.dumps(
                    {"parentUuid": parent, **record, "uuid": uuid, "timestamp": stamp, **base}, ensure_ascii=False
                )
                size += file.write(line + "\n")
                parent = uuid
    return path.stat().st_size


_READ = """
import resource, sys, time
from sidecar.formats.transfer import read_histories
from sidecar.formats.base import Report
from sidecar.formats.source import CHUNK, Source
def chunks():
    with open(sys.argv[1], "rb") as file:
        while chunk := file.read(CHUNK):
            yield chunk
from sidecar.formats.registry import FORMATS
from sidecar.formats.base import ReadOptions
report = Report()
began = time.perf_counter()
count = 0
for history in FORMATS["claude-code"].read(Source(chunks), report, ReadOptions()):
    for entry in history.entries:
        count += 1
print(time.perf_counter() - began, count, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
"""


_IMPORT = """
import resource, sys
from sidecar.cli import main
code = main(["import", sys.argv[1], "--into", "bench", "--store", sys.argv[2], "--json"])
own, other = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
print(code or 0, own.ru_utime + own.ru_stime, other.ru_utime + other.ru_stime, own.ru_maxrss / 1024,
      other.ru_maxrss / 1024, file=sys.stderr)
"""


def loads_lines(path: Path) -> tuple[float, float]:
    """Return the wall-clock and the processor time of `json.loads` over all lines."""
    began, busy = time.perf_counter(), time.process_time()
    with path.open("rb") as file:
        for line in file:
            json.loads(line)
    return time.perf_counter() - began, time.process_time() - busy


def main() -> None:
    megabytes = float(sys.argv[1]) if len(sys.argv) > 1 else 100
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "session.jsonl"
        size = write_session(path, megabytes)
        plain, plain_busy = loads_lines(path)
        printed = subprocess.run([sys.executable, "-c", _READ, str(path)], check=True, capture_output=True, text=True)
        seconds, count, memory = map(float, printed.stdout.split())
        print(f"{size / 1e6:.0f} MB, {count:.0f} entries; json.loads over its lines {plain:.2f} s")
        print(f"reading: {seconds:.2f} s, ratio {plain / seconds:.2f}, peak memory {memory:.0f} MB")
        began = time.perf_counter()
        script = [sys.executable, "-c", _IMPORT, str(path), f"{folder}/store.db"]
        printed = subprocess.run(script, check=True, capture_output=True, text=True)
        seconds = time.perf_counter() - began
        code, own, other, memory, reader = map(float, printed.stderr.splitlines()[-1].split())
        assert code == 0 and len(json.loads(printed.stdout)["files"][0]["histories"][0]["entryIds"]) == count
        print(f"import into a store: {seconds:.2f} s, ratio {plain / seconds:.2f}")
        print(f"processor time: importer {own:.2f} s, reader {other:.2f} s, json.loads {plain_busy:.2f} s;"
              f" ratio on two idle processors {2 * plain_busy / (own + other):.2f} at best")  # fmt: skip
        print(f"peak memory: importer {memory:.0f} MB, reader {reader:.0f} MB")


if __name__ == "__main__":
    main()
