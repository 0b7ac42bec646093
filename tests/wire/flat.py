"""Every wire read into one flat list, so that a test can say what it means once for all vendors.

This is a reader for tests only: it knows the shapes, not the rules, and shares no code with the projector.
"""

from __future__ import annotations

import json
from typing import Any

from attrs import frozen


@frozen(kw_only=True)
class Step:
    """One piece of a payload: `message` is the index of the wire message it stands in."""

    message: int
    role: str
    kind: str
    value: Any = None
    id: str | None = None
    name: str | None = None
    error: bool = False
    key: str = ""


def messages_of(body: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the list of wire messages."""
    for key in ("messages", "input", "contents"):
        if key in body:
            found = body[key]
            assert isinstance(found, list)
            return found
    raise AssertionError(f"no messages in {sorted(body)}")


def system_of(body: dict[str, Any]) -> list[str]:
    """Return the texts of the system slot."""
    slot = body.get("system", body.get("instructions", body.get("systemInstruction")))
    if slot is None:
        return []
    if isinstance(slot, str):
        return [slot]
    return [part["text"] for part in (slot["parts"] if isinstance(slot, dict) else slot) if "text" in part]


def flat(vendor: str, body: dict[str, Any]) -> list[Step]:
    """Read a payload into steps."""
    read = {
        "openai-responses": _responses,
        "anthropic-messages": _anthropic,
        "bedrock-converse": _bedrock,
        "gemini": _gemini,
    }.get(vendor, _chat)
    steps: list[Step] = []
    for index, message in enumerate(messages_of(body)):
        steps += read(index, message)
    return steps


def _chat(index: int, message: dict[str, Any]) -> list[Step]:
    role = message["role"]
    if role == "tool":
        name = message.get("tool_name", message.get("name"))
        call_id = message.get("tool_call_id")
        return [Step(message=index, role=role, kind="result", value=message["content"], id=call_id, name=name)]
    steps = []
    for key in ("reasoning_content", "reasoning", "thinking"):
        if key in message:
            steps.append(Step(message=index, role=role, kind="reasoning", value=message[key], key=key))
    for detail in message.get("reasoning_details", ()):
        steps.append(Step(message=index, role=role, kind="reasoning", value=detail, key="details", id=detail.get("id")))
    if "tool_plan" in message:
        steps.append(Step(message=index, role=role, kind="text", value=message["tool_plan"], key="plan"))
    content = message.get("content")
    if isinstance(content, str):
        steps.append(Step(message=index, role=role, kind="text", value=content))
    for part in content if isinstance(content, list) else ():
        kind = part["type"]
        if kind in ("text", "refusal"):
            steps.append(Step(message=index, role=role, kind="text", value=part[kind], key=kind))
        elif kind == "thinking":
            steps.append(Step(message=index, role=role, kind="reasoning", value=part["thinking"], key=kind))
        else:
            steps.append(Step(message=index, role=role, kind="media", value=part, key=kind))
    for image in message.get("images", ()):
        steps.append(Step(message=index, role=role, kind="media", value=image, key="images"))
    for call in message.get("tool_calls", ()):
        function = call["function"]
        arguments = function["arguments"]
        steps.append(
            Step(message=index, role=role, kind="call", id=call.get("id"), name=function["name"], value=arguments)
        )
    return steps


def _responses(index: int, item: dict[str, Any]) -> list[Step]:
    kind = item["type"]
    if kind == "function_call":
        return [
            Step(
                message=index,
                role="assistant",
                kind="call",
                id=item["call_id"],
                name=item["name"],
                value=item["arguments"],
                key=item.get("id", ""),
            )
        ]
    if kind == "function_call_output":
        return [Step(message=index, role="tool", kind="result", id=item["call_id"], value=item["output"])]
    if kind == "reasoning":
        return [Step(message=index, role="assistant", kind="reasoning", value=item, id=item.get("id"))]
    if kind != "message":
        return [Step(message=index, role="assistant", kind="other", value=item, key=kind)]
    content = item["content"]
    if isinstance(content, str):
        return [Step(message=index, role=item["role"], kind="text", value=content)]
    return [
        Step(
            message=index,
            role=item["role"],
            kind="text" if "text" in part["type"] else "media",
            value=part.get("text", part),
            key=part["type"],
        )
        for part in content
    ]


def _anthropic(index: int, message: dict[str, Any]) -> list[Step]:
    role = message["role"]
    content = message["content"]
    if isinstance(content, str):
        return [Step(message=index, role=role, kind="text", value=content)]
    steps = []
    for part in content:
        kind = part["type"]
        if kind == "text":
            steps.append(Step(message=index, role=role, kind="text", value=part["text"]))
        elif kind == "tool_use":
            steps.append(
                Step(message=index, role=role, kind="call", id=part["id"], name=part["name"], value=part["input"])
            )
        elif kind == "tool_result":
            steps.append(
                Step(
                    message=index,
                    role=role,
                    kind="result",
                    id=part["tool_use_id"],
                    value=part.get("content"),
                    error=part.get("is_error", False),
                )
            )
        elif "thinking" in kind:
            steps.append(Step(message=index, role=role, kind="reasoning", value=part, key=kind))
        else:
            steps.append(
                Step(message=index, role=role, kind="media" if "source" in part else "other", value=part, key=kind)
            )
    return steps


def _bedrock(index: int, message: dict[str, Any]) -> list[Step]:
    role = message["role"]
    steps = []
    for part in message["content"]:
        ((kind, value),) = part.items() if len(part) == 1 else (("other", part),)
        if kind == "text":
            steps.append(Step(message=index, role=role, kind="text", value=value))
        elif kind == "toolUse":
            steps.append(
                Step(
                    message=index,
                    role=role,
                    kind="call",
                    id=value["toolUseId"],
                    name=value["name"],
                    value=value["input"],
                )
            )
        elif kind == "toolResult":
            steps.append(
                Step(
                    message=index,
                    role=role,
                    kind="result",
                    id=value["toolUseId"],
                    value=value["content"],
                    error=value.get("status") == "error",
                )
            )
        elif kind == "cachePoint":
            continue
        elif kind == "reasoningContent":
            steps.append(Step(message=index, role=role, kind="reasoning", value=value))
        else:
            known = kind in ("image", "document")
            steps.append(Step(message=index, role=role, kind="media" if known else "other", value=value, key=kind))
    return steps


def _gemini(index: int, content: dict[str, Any]) -> list[Step]:
    role = {"model": "assistant"}.get(content["role"], content["role"])
    steps = []
    for part in content["parts"]:
        signature = part.get("thoughtSignature", "")
        if "text" in part:
            kind = "reasoning" if part.get("thought") else "text"
            steps.append(Step(message=index, role=role, kind=kind, value=part["text"], key=signature))
        elif "functionCall" in part:
            call = part["functionCall"]
            steps.append(
                Step(
                    message=index,
                    role=role,
                    kind="call",
                    id=call.get("id"),
                    name=call["name"],
                    value=call["args"],
                    key=signature,
                )
            )
        elif "functionResponse" in part:
            response = part["functionResponse"]
            steps.append(
                Step(
                    message=index,
                    role=role,
                    kind="result",
                    id=response.get("id"),
                    name=response["name"],
                    value=response["response"],
                    error="error" in response["response"],
                )
            )
        else:
            steps.append(Step(message=index, role=role, kind="media" if "Data" in str(part) else "other", value=part))
    return steps


def assert_paired(vendor: str, body: dict[str, Any]) -> None:
    """Each round of calls is answered completely, in call order, at once, and no result stands anywhere else."""
    steps = flat(vendor, body)
    index = 0
    while index < len(steps):
        step = steps[index]
        assert step.kind != "result", f"a result without its call at message {step.message}"
        if step.kind != "call":
            index += 1
            continue
        calls = []
        while index < len(steps) and steps[index].kind == "call":
            calls.append(steps[index])
            index += 1
        results = steps[index : index + len(calls)]
        assert [each.kind for each in results] == ["result"] * len(calls), "calls without results"
        assert [each.id for each in results] == [each.id for each in calls]
        for call, result in zip(calls, results, strict=True):
            if result.name is not None:
                assert result.name == call.name
        if vendor in ("anthropic-messages", "bedrock-converse", "gemini"):
            assert {each.message for each in results} == {calls[-1].message + 1}
            assert {each.message for each in calls} == {calls[-1].message}
        index += len(calls)
    ids = [step.id for step in steps if step.kind == "call" and step.id is not None]
    assert len(ids) == len(set(ids)), "call ids are not unique"


def assert_json(body: dict[str, Any]) -> bytes:
    """The payload is JSON of well-formed Unicode; return its bytes."""
    return json.dumps(body, ensure_ascii=False, allow_nan=False).encode("utf-8")


def text_of(value: Any) -> str:
    """Return all text inside a value."""
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return "\n".join(text_of(item) for item in value)
    if isinstance(value, dict):
        return "\n".join(text_of(item) for item in value.values())
    return "" if value is None else json.dumps(value)
