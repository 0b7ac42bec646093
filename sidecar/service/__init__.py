"""The Python API: named histories over a store, without JSON-RPC.

async with HistoryService(store) as service:
    session = service.session("my-agent")
    applied = await session.append("work/fix-42", [Entry.user("hello")])
"""

from sidecar.service.limits import Limits
from sidecar.service.parsed import Parsed
from sidecar.service.service import HistoryService
from sidecar.service.session import ANYWAY, Conditions, Session, Unchanged, Window
from sidecar.service.subscriptions import Notification, Sink
from sidecar.service.tokens import entry_tokens, token_estimate

__all__ = [
    "ANYWAY",
    "Conditions",
    "HistoryService",
    "Limits",
    "Notification",
    "Parsed",
    "Session",
    "Sink",
    "Unchanged",
    "Window",
    "entry_tokens",
    "token_estimate",
]
