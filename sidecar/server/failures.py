"""Exceptions to JSON-RPC error objects: the only place that knows how.

Rules: `error.data` always has `kind` and `retryable`. What is not a domain error is internal: the client gets an
incident id and nothing else, and the log has the same id with the code places. Exception texts may quote a
conversation, so the log shows them at DEBUG only.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import logging
import traceback
import uuid
from typing import Any

from pygls.exceptions import JsonRpcException

from sidecar.core.errors import SidecarError
from sidecar.core.jsontext import Json

log = logging.getLogger(__name__)

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603
NOT_INITIALIZED = -32002
REQUEST_CANCELLED = -32800

KINDS = {
    PARSE_ERROR: "parseError",
    INVALID_REQUEST: "invalidRequest",
    METHOD_NOT_FOUND: "methodNotFound",
    INVALID_PARAMS: "invalidParams",
    INTERNAL_ERROR: "internalError",
    NOT_INITIALIZED: "notInitialized",
    REQUEST_CANCELLED: "requestCancelled",
}


class Refusal(Exception):
    """The envelope itself is refused: not JSON-RPC, too early, too late, or unknown."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code, self.message = code, message


def error_object(error: BaseException, method: str) -> dict[str, Json]:
    """Return the JSON-RPC error for whatever handling a request of `method` raised."""
    if isinstance(error, SidecarError):
        return {"code": error.code, "message": error.message, "data": error.to_data()}
    if isinstance(error, Refusal):
        return _standard(error.code, error.message)
    if isinstance(error, asyncio.CancelledError | concurrent.futures.CancelledError):
        return _standard(REQUEST_CANCELLED, "request was cancelled")
    if isinstance(error, JsonRpcException) and error.code != INTERNAL_ERROR:
        data = error.data if isinstance(error.data, dict) else {}
        words = error.message.removeprefix("Invalid Params: ")
        message = words[:1].lower() + words[1:]
        if error.code == INVALID_PARAMS:
            return _standard(INVALID_PARAMS, f"invalid params: {message}", errors=[{"path": "", "message": message}])
        return _standard(error.code, message, **data)
    return _standard(INTERNAL_ERROR, "internal error", incident=log_incident(error, method))


def log_incident(error: BaseException, what: str) -> str:
    """Log an unexpected exception without its text; return the incident id."""
    incident = uuid.uuid4().hex[:12]
    places = "; ".join(
        f"{frame.filename}:{frame.lineno} {frame.name}" for frame in traceback.extract_tb(error.__traceback__)[-8:]
    )
    log.error("incident %s: %s failed with %s at %s", incident, what, type(error).__name__, places or "unknown place")
    log.debug("incident %s", incident, exc_info=error)
    return incident


def _standard(code: int, message: str, **data: Any) -> dict[str, Json]:
    return {
        "code": code,
        "message": message,
        "data": {"kind": KINDS.get(code, "other"), "retryable": False, **data},
    }
