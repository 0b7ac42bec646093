"""A real server process with probe methods of every handler kind instead of histories."""

from __future__ import annotations

import asyncio
import sys
import time
from typing import Any

from sidecar.config import Settings
from sidecar.core.errors import HistoryNotFound
from sidecar.server.app import build_server
from sidecar.server.protocol import Spliced

server = build_server(Settings(store=":memory:"))


@server.feature("x/echo")
def echo(params: Any) -> Any:
    return params


@server.feature("x/boom")
def boom(params: Any) -> Any:
    raise ValueError("secret conversation text")


@server.feature("x/asyncBoom")
async def async_boom(params: Any) -> Any:
    raise ValueError("secret conversation text")


@server.feature("x/domain")
def domain(params: Any) -> Any:
    raise HistoryNotFound("h")


@server.feature("x/print")
def stray_print(params: Any) -> Any:
    print("stray")
    sys.stdout.flush()
    return {}


@server.feature("x/slow")
async def slow(params: Any) -> Any:
    await asyncio.sleep(params.get("seconds", 0.5))
    return {"slow": True}


@server.feature("x/thread")
@server.thread()
def thread(params: Any) -> Any:
    time.sleep(0.1)
    return {"thread": True}


@server.feature("x/generator")
def generator(params: Any) -> Any:
    value = yield echo, (params,), {}
    return {"generated": value}


@server.feature("x/none")
def none(params: Any) -> Any:
    return None


def spliced(params: Any) -> Spliced:
    return Spliced(b'{"big":"', b"x" * params["size"], b'"}')


def future(params: Any) -> Any:
    made = asyncio.get_running_loop().create_future()
    asyncio.get_running_loop().call_later(0.01, made.set_result, {"future": True})
    return made


server.protocol.add_method("x/spliced", lambda params: params, spliced)
server.protocol.add_method("x/future", lambda params: params, future)

sys.exit(server.start_io())
