"""JSON-RPC over frames: every request gets exactly one reply, whatever came in.

This is pygls' `LanguageServerProtocol` with its message entry and exit replaced; features, commands, generators,
threads, server-to-client requests and progress work as pygls documents them. Why it is replaced: stock pygls leaves
bad input unanswered, serves requests before `initialize`, drops a message in which any nested object has a `jsonrpc`
key, and sends tracebacks (each case is a test in `tests/server/test_hardening.py`).

Rules:
- `handle_bodies` takes what one read brought and never raises. Requests start in arrival order.
- A handler is sync, a coroutine function, a `@server.thread()` function, a generator as in pygls, or a sync function
  that returns a future. Coroutines take their first step in arrival order, which is how requests for one history keep
  theirs. Methods of our own (`add_method`) bring their conversions, LSP features answer lsprotocol types.
- Nothing of params or results is logged above DEBUG.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import inspect
import logging
from collections.abc import Callable, Generator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias

from attrs import frozen
from cattrs import Converter
from lsprotocol import types
from pygls.feature_manager import is_thread_function
from pygls.protocol import LanguageServerProtocol, lsp_method

from sidecar.core.errors import InvalidParams, LimitExceeded
from sidecar.core.jsontext import MAX_DEPTH, Json, dumpb, loads, too_deep
from sidecar.server.failures import (
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    NOT_INITIALIZED,
    PARSE_ERROR,
    REQUEST_CANCELLED,
    Refusal,
    error_object,
    log_incident,
)
from sidecar.server.frames import MAX_BODY, Body, Oversized, frame
from sidecar.server.lsp_codec import params_type, read_params
from sidecar.server.pipes import Output

if TYPE_CHECKING:
    from sidecar.server.app import SidecarServer

log = logging.getLogger(__name__)

MessageId: TypeAlias = int | str
Handler: TypeAlias = Callable[[Any], Any]
AnyFuture: TypeAlias = asyncio.Future[Any] | concurrent.futures.Future[Any]

MAX_NAMED = 64
"""Characters of an unknown method's name that its refusal repeats."""

_NEVER_CANCELLED = frozenset((types.INITIALIZE, types.SHUTDOWN))


def _as_it_is(result: Any) -> Json:
    return result


class Spliced:
    """A result that is JSON text already: the chunks go into the frame as they are, never decoded or encoded again."""

    __slots__ = ("chunks",)

    def __init__(self, *chunks: bytes) -> None:
        self.chunks = chunks


@frozen
class _Route:
    read: Callable[[Json], Any]
    call: Callable[[Any], Any]
    write: Callable[[Any], Json]


class SidecarProtocol(LanguageServerProtocol):
    """See the module."""

    _server: SidecarServer
    writer: Output | None

    def __init__(self, server: SidecarServer, converter: Converter) -> None:
        super().__init__(server, converter)
        self.running: dict[MessageId, AnyFuture] = {}
        """Requests of the client that are being worked on."""
        self.on_exit: Callable[[], None] = lambda: None
        self.on_settled: Callable[[], None] = lambda: None
        self._initialized = False
        self._starting = False  # `initialize` is being worked on: what came behind it waits in `_postponed`
        self._postponed: list[Body] = []
        self._routes: dict[str, _Route] = {}

    @property
    def is_shut_down(self) -> bool:
        """Whether the client asked for shutdown, so that the exit code is 0."""
        return self._shutdown

    def add_method(
        self, name: str, read: Callable[[Json], Any], handler: Handler, write: Callable[[Any], Json] = _as_it_is
    ) -> None:
        """Serve a method of our own: `read` makes params of JSON, `write` JSON of what `handler` answers.

        A handler may answer `Spliced` instead, which is not written but taken as it is.
        """
        self.fm.features[name] = handler
        self._routes[name] = _Route(read, partial(self._start, handler), write)

    async def answer(self, method: str, params: Json) -> Json:
        """Answer a method to ourselves, as a client would get it; raise what a client would be refused with."""
        route = self._route(method)
        result = route.call(route.read(params))
        if isinstance(result, concurrent.futures.Future):
            result = asyncio.wrap_future(result)
        if isinstance(result, asyncio.Future):
            result = await result
        return loads(b"".join(result.chunks)) if type(result) is Spliced else route.write(result)

    # --- coming in ----------------------------------------------------------------------------------------------------

    def handle_bodies(self, bodies: Sequence[Body]) -> None:
        """Work on what one read brought, in order; requests that it also cancels never start."""
        cancels = _cancels(bodies) if len(bodies) > 1 else {}
        for position, body in enumerate(bodies):
            if self._starting:
                self._postponed.extend(bodies[position:])
                return
            if isinstance(body, Oversized):
                self._refuse(None, LimitExceeded("messageBytes", body.length, MAX_BODY), "message")
            else:
                self._handle_body(body, cancels, position)

    def _handle_body(self, body: bytes, cancels: dict[MessageId, int], position: int) -> None:
        deep = too_deep(body)
        try:
            message = loads(body)
        except ValueError:
            self._refuse(None, Refusal(PARSE_ERROR, "message is not JSON"), "message")
            return
        if type(message) is not dict:
            self._refuse(
                None, Refusal(INVALID_REQUEST, "message is not an object; batches are not part of LSP"), "message"
            )
            return
        message_id, method = message.get("id"), message.get("method")
        known_id = message_id if type(message_id) is int or type(message_id) is str else None
        if deep:
            self._refuse(known_id, LimitExceeded("depth", MAX_DEPTH + 1, MAX_DEPTH), "message")
        elif message.get("jsonrpc") != "2.0":
            self._refuse(known_id, Refusal(INVALID_REQUEST, "jsonrpc must be 2.0"), "message")
        elif method is None and ("result" in message or "error" in message):
            self._handle_reply(known_id, message)
        elif type(method) is not str:
            self._refuse(known_id, Refusal(INVALID_REQUEST, "method must be a string"), "message")
        elif "id" not in message:
            self._notified(method, message.get("params"))
        elif known_id is None:
            self._refuse(None, Refusal(INVALID_REQUEST, "id must be an integer or a string"), method)
        elif cancels.get(known_id, -1) > position and method not in _NEVER_CANCELLED:
            self._refuse(known_id, Refusal(REQUEST_CANCELLED, "request was cancelled"), method)
        else:
            self._requested(known_id, method, message.get("params"))

    def _requested(self, message_id: MessageId, method: str, params: Json) -> None:
        try:
            self._gate(message_id, method)
            route = self._route(method)
            result = route.call(route.read(_object(params)))
        except Exception as error:  # noqa: BLE001 - the boundary: whatever it was, the client gets its one reply
            self._refuse(message_id, error, method)
            return
        if isinstance(result, asyncio.Future | concurrent.futures.Future):
            self.running[message_id] = result
            self._starting = method == types.INITIALIZE and not result.done()
            result.add_done_callback(partial(self._settle, message_id=message_id, method=method, write=route.write))
        else:
            self._answer(message_id, result, route.write)

    def _gate(self, message_id: MessageId, method: str) -> None:
        if self._shutdown:
            raise Refusal(INVALID_REQUEST, "the server is shutting down")
        if not self._initialized and method != types.INITIALIZE:
            raise Refusal(NOT_INITIALIZED, "the server is not initialized")
        if self._initialized and method == types.INITIALIZE:
            raise Refusal(INVALID_REQUEST, "the server is initialized already")
        if message_id in self.running:
            raise Refusal(INVALID_REQUEST, "a request with this id is still being worked on")

    def _settle(self, future: AnyFuture, *, message_id: MessageId, method: str, write: Callable[[Any], Json]) -> None:
        self.running.pop(message_id, None)
        try:
            result = future.result()
        except (Exception, asyncio.CancelledError) as error:  # noqa: BLE001 - the boundary
            self._refuse(message_id, error, method)
        else:
            self._answer(message_id, result, write)
        if self._starting and method == types.INITIALIZE:
            self._starting = False
            postponed, self._postponed = self._postponed, []
            self.handle_bodies(postponed)
        self.on_settled()

    def _notified(self, method: str, params: Json) -> None:
        if method == types.EXIT:
            self.on_exit()
        elif method == types.CANCEL_REQUEST:
            self._cancel(params.get("id") if isinstance(params, dict) else None)
        elif self._initialized and not self._shutdown:
            try:
                route = self._route(method)
                result = route.call(route.read(_object(params)))
                if isinstance(result, asyncio.Future | concurrent.futures.Future):
                    result.add_done_callback(partial(_check, method=method))
            except Refusal:
                log.debug("notification %r is not known", method)
            except InvalidParams as error:
                log.warning("notification %r has %s", method, error.message)
            except Exception as error:  # noqa: BLE001 - the boundary
                log_incident(error, method)

    def _cancel(self, message_id: Json) -> None:
        future = self.running.get(message_id) if type(message_id) in (int, str) else None
        if future is not None:
            future.cancel()

    def _handle_reply(self, message_id: MessageId | None, message: dict[str, Json]) -> None:
        if message_id is None or message_id not in self._request_futures:
            log.debug("a reply to nothing we asked was ignored")
            return
        expected = self._result_types.pop(message_id, None)
        try:
            if "error" in message:
                failure = self._converter.structure(message, types.ResponseErrorMessage)
                self._handle_response(message_id, None, failure.error)
            else:
                typed = None if expected is None else self._converter.structure(message, expected)
                self._handle_response(message_id, message["result"] if typed is None else typed.result)
        except Exception as error:  # noqa: BLE001 - a client's odd reply is its own fault, never ours
            log_incident(error, "reply of the client")
            if (waiting := self._request_futures.pop(message_id, None)) is not None:
                waiting.cancel()

    # --- to handlers --------------------------------------------------------------------------------------------------

    def _route(self, method: str) -> _Route:
        route = self._routes.get(method)
        if route is None:
            handler = self.fm.builtin_features.get(method) or self.fm.features.get(method)
            if handler is None:
                raise Refusal(METHOD_NOT_FOUND, f"method {method[:MAX_NAMED]!r} is not known")
            read = partial(read_params, self._converter, params_type(method))
            route = self._routes[method] = _Route(read, partial(self._start, handler), self._converter.unstructure)
        return route

    def _start(self, handler: Handler, *args: Any, **kwargs: Any) -> Any:
        """Run a pygls handler of any kind; return its result or a future of it."""
        if inspect.iscoroutinefunction(handler):
            return asyncio.ensure_future(handler(*args, **kwargs))
        if is_thread_function(handler):  # type: ignore[no-untyped-call]
            return asyncio.wrap_future(self._server.thread_pool.submit(handler, *args, **kwargs))
        if inspect.isgeneratorfunction(handler):
            future: concurrent.futures.Future[Any] = concurrent.futures.Future()
            self._run_generator(None, gen=handler(*args, **kwargs), result_future=future)
            return future
        return handler(*args, **kwargs)

    def _execute_handler(
        self,
        msg_id: MessageId,
        handler: Handler,
        callback: Callable[[Any], None],
        args: tuple[Any, ...] | None = None,
        kwargs: dict[str, Any] | None = None,
    ) -> None:
        # The inner steps of pygls' generators come here; stock pygls would keep the futures for ever.
        outcome = self._start(handler, *(args or ()), **(kwargs or {}))
        if not isinstance(outcome, asyncio.Future | concurrent.futures.Future):
            done: concurrent.futures.Future[Any] = concurrent.futures.Future()
            done.set_result(outcome)
            outcome = done
        outcome.add_done_callback(callback)

    @lsp_method(types.INITIALIZE)
    def lsp_initialize(self, params: types.InitializeParams) -> Generator[Any, Any, types.InitializeResult]:
        """Answer with what is really served: a client must not sync documents with a server that reads none."""
        result = yield from super().lsp_initialize(params)
        capabilities, served = result.capabilities, self.fm.features
        if types.TEXT_DOCUMENT_DID_OPEN not in served:
            capabilities.text_document_sync = None
        if not self.fm.commands:
            capabilities.execute_command_provider = None
        capabilities.workspace = None
        if types.WORKSPACE_TEXT_DOCUMENT_CONTENT in served:  # pygls' capability builder does not know it
            content = types.TextDocumentContentOptions(schemes=["history"])
            capabilities.workspace = types.WorkspaceOptions(text_document_content=content)
        capabilities.experimental = {"sidecar": self._server.describe()}
        self._initialized = True
        return result

    # --- going out ----------------------------------------------------------------------------------------------------

    def _answer(self, message_id: MessageId, result: Any, write: Callable[[Any], Json]) -> None:
        try:
            if type(result) is Spliced:
                chunks = result.chunks
            else:
                chunks = (dumpb(write(result)),)
        except Exception as error:  # noqa: BLE001 - the boundary
            self._refuse(message_id, error, "result")
            return
        if self.writer is None:
            return
        start = b'{"jsonrpc":"2.0","id":%b,"result":' % dumpb(message_id)
        if len(chunks) == 1 and len(chunks[0]) < 1 << 16:
            self.writer.write(frame(b"%b%b}" % (start, chunks[0])))
            return
        length = len(start) + sum(map(len, chunks)) + 1
        self.writer.write(b"Content-Length: %d\r\n\r\n%b" % (length, start), *chunks, b"}")

    def _refuse(self, message_id: MessageId | None, error: BaseException, method: str) -> None:
        self._send_data({"jsonrpc": "2.0", "id": message_id, "error": error_object(error, method)})

    def refuse_stream(self, message: str) -> None:
        """Tell the client that its byte stream could not be read on."""
        self._refuse(None, Refusal(PARSE_ERROR, message), "frame")

    def notify_json(self, method: str, params: bytes) -> None:
        """Send a notification whose params are JSON text already."""
        if self.writer is not None:
            self.writer.write(frame(b'{"jsonrpc":"2.0","method":%b,"params":%b}' % (dumpb(method), params)))

    def _send_data(self, data: Any) -> None:
        if self.writer is not None:
            self.writer.write(frame(dumpb(data if type(data) is dict else self._converter.unstructure(data))))


def _object(params: Json) -> Json:
    """Lua and Emacs clients send `[]` or `null` for no params."""
    if params is None or params == []:
        return {}
    if type(params) is not dict:
        raise InvalidParams.at("", "must be an object")
    return params


def _cancels(bodies: Sequence[Body]) -> dict[MessageId, int]:
    """Return the ids that this batch cancels, each with the position of the cancel."""
    found: dict[MessageId, int] = {}
    for position, body in enumerate(bodies):
        if isinstance(body, bytes) and len(body) < 512 and b'"$/cancelRequest"' in body:
            try:
                message = loads(body)
                if message["method"] == types.CANCEL_REQUEST:
                    found[message["params"]["id"]] = position
            except (ValueError, LookupError, TypeError):
                continue  # whatever it is, `_handle_body` answers it
    return found


def _check(future: AnyFuture, *, method: str) -> None:
    if not future.cancelled() and (error := future.exception()) is not None:
        log_incident(error, method)
