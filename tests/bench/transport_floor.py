"""The servers we compare ourselves with, each the least code that answers: `python transport_floor.py KIND`.

- `asyncio`: asyncio streams and orjson, framing and an echo, no checks at all.
- `polled`: the same on `loop.add_reader`, which no library offers, so nobody writes it by hand.
- `stock`: a pygls `LanguageServer` as its documentation shows it.
- `cat FILE`: answers every request with the lines of a JSONL file, read anew and joined to one JSON array.
"""

from __future__ import annotations

import asyncio
import os
import sys
from typing import Any


def _reply(message: Any) -> bytes:
    import orjson

    if "id" not in message:
        if message["method"] == "exit":
            os._exit(0)
        return b""
    body = orjson.dumps({"jsonrpc": "2.0", "id": message["id"], "result": message.get("params", {})})
    return b"Content-Length: %d\r\n\r\n%b" % (len(body), body)


async def streams() -> None:
    """asyncio's own streams over stdin and stdout."""
    import orjson

    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader(limit=1 << 26)
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    while not reader.at_eof():
        header = await reader.readuntil(b"\r\n\r\n")
        body = await reader.readexactly(int(header[16:-4]))
        os.write(1, _reply(orjson.loads(body)))


async def polled() -> None:
    """One `os.read` per wake-up, every whole message in it answered by one `os.write`."""
    import orjson

    buffer = b""

    def ready() -> None:
        nonlocal buffer
        data = os.read(0, 1 << 16)
        if not data:
            os._exit(0)
        buffer += data
        out = []
        while (end := buffer.find(b"\r\n\r\n")) >= 0 and len(buffer) >= end + 4 + (length := int(buffer[16:end])):
            out.append(_reply(orjson.loads(buffer[end + 4 : end + 4 + length])))
            buffer = buffer[end + 4 + length :]
        os.write(1, b"".join(out))

    asyncio.get_running_loop().add_reader(0, ready)
    await asyncio.Event().wait()


def stock() -> None:
    """pygls as documented."""
    from pygls.lsp.server import LanguageServer

    server = LanguageServer("stock", "1")

    @server.feature("x/echo")
    def echo(params: Any) -> Any:
        return {"n": 1}

    server.start_io()


def cat(path: str) -> None:
    """Read a JSONL file and frame it, for every request."""
    source, sink = sys.stdin.buffer, sys.stdout.buffer
    while header := source.readline():
        source.readline()
        message = source.read(int(header[16:]))
        with open(path, "rb") as file:
            body = b'{"jsonrpc":"2.0","id":1,"result":{"entries":[' + b",".join(file.read().splitlines()) + b"]}}"
        if message:
            sink.write(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
            sink.flush()


if __name__ == "__main__":
    kind = sys.argv[1]
    if kind == "asyncio":
        asyncio.run(streams())
    elif kind == "polled":
        asyncio.run(polled())
    elif kind == "stock":
        stock()
    else:
        cat(sys.argv[2])
