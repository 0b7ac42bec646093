"""The Python API: named histories over a store, without JSON-RPC.

    async with HistoryService(open_store(":memory:")) as service:
        session = service.session("my-agent")
        applied = await session.append("work/fix-42", [Entry.user("hello")])

What a caller needs of the store's vocabulary is re-exported here.
"""

from sidecar.service.heavy import compute
from sidecar.service.limits import Limits
from sidecar.service.parsed import Parsed, Part, Projections
from sidecar.service.service import HistoryService
from sidecar.service.session import ANYWAY, Conditions, Session, Unchanged, Window
from sidecar.service.subscriptions import Notification, Sink
from sidecar.service.tokens import Question, entry_tokens, token_estimate
from sidecar.store import open_store
from sidecar.store.base import (
    Applied,
    ChangeEvent,
    Delta,
    EntryEdit,
    Head,
    Remove,
    Row,
    SetText,
    Splice,
    StoredEdit,
    VersionRow,
)

__all__ = [
    "Question",
    "ANYWAY",
    "Applied",
    "ChangeEvent",
    "Conditions",
    "Delta",
    "EntryEdit",
    "Head",
    "HistoryService",
    "Limits",
    "Notification",
    "Parsed",
    "Part",
    "Projections",
    "Remove",
    "Row",
    "Session",
    "SetText",
    "Sink",
    "Splice",
    "StoredEdit",
    "Unchanged",
    "VersionRow",
    "Window",
    "compute",
    "entry_tokens",
    "open_store",
    "token_estimate",
]
