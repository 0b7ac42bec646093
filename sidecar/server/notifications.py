"""Changes to `history/didChange` and `history/didDelete`; stored bytes go out as they are."""

from __future__ import annotations

from collections.abc import Iterator

from sidecar.core.jsontext import Json, dumpb
from sidecar.server.protocol import SidecarProtocol
from sidecar.service import Notification, StoredEdit

MAX_PENDING = 4 * 1024 * 1024
"""A client with more unread bytes than this is not told of every change any more, but to read again."""


class ClientSink:
    """Sends the notifications of one session to the client."""

    def __init__(self, protocol: SidecarProtocol) -> None:
        self._protocol = protocol

    @property
    def congested(self) -> bool:
        """See `service.Sink`."""
        writer = self._protocol.writer
        return writer is not None and writer.pending > MAX_PENDING

    def notify(self, notification: Notification) -> None:
        """See `service.Sink`."""
        event = notification.event
        members: dict[str, Json] = {
            "subscriptionIds": list(notification.subscription_ids),
            "history": event.history,
            "version": event.version,
        }
        trailing: dict[str, Json] = {
            "operationId": event.operation_id,
            "origin": {"local": event.local, "client": event.actor},
        }
        if event.deleted:
            self._protocol.notify_json(
                "history/didDelete", dumpb({**members, "renamedTo": event.renamed_to, **trailing})
            )
            return
        members |= {"previousVersion": event.previous_version, "len": event.len}
        change = b'{"kind":"resync"}'
        if event.edits is not None:
            write = edit_with_entries if notification.with_entries else _edit_counted
            change = b'{"kind":"edits","edits":[%b]}' % b",".join(map(write, event.edits))
        params = b'%b,"change":%b,%b' % (dumpb(members)[:-1], change, dumpb(trailing)[1:])
        self._protocol.notify_json("history/didChange", params)


def edit_with_entries(edit: StoredEdit) -> bytes:
    """Write one edit as JSON around its stored bodies."""
    return b"".join(_edit_pieces(edit))


def _edit_pieces(edit: StoredEdit) -> Iterator[bytes]:
    yield b'{"start":%d,"deleteCount":%d,"entries":[' % (edit.start, edit.delete_count)
    yield b",".join(edit.bodies)
    yield b"]}"


def _edit_counted(edit: StoredEdit) -> bytes:
    return b'{"start":%d,"deleteCount":%d,"insertCount":%d}' % (edit.start, edit.delete_count, len(edit.bodies))
