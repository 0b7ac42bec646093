"""Entries in their JSON form with few words: what tests of parsing expect."""

from __future__ import annotations

from typing import Any

from sidecar.core.message_json import entry_to_json
from sidecar.wire.base import Parsed


def written(parsed: Parsed) -> list[dict[str, Any]]:
    return [entry_to_json(entry) for entry in parsed.entries]


def text(value: str, **more: Any) -> dict[str, Any]:
    return {"type": "text", "text": value, **more}


def user(*content: Any) -> dict[str, Any]:
    return {"message": {"role": "user", "content": [text(one) if isinstance(one, str) else one for one in content]}}


def tool(call_id: str, *content: Any, **more: Any) -> dict[str, Any]:
    blocks = [text(one) if isinstance(one, str) else one for one in content]
    message = {"role": "tool", "callId": call_id, "content": blocks, **more}
    if "name" in more:
        message = {"role": "tool", "callId": call_id, "name": more["name"], "content": blocks}
    return {"message": message}
