"""A judge of finished payloads, written from the vendors' rules and never from the projector.

`judge(vendor, body)` names every rule that the vendor would refuse the payload for. What the official SDK types can
see (shapes, unknown keys) is left to them where they exist; what they cannot see is here: pairing, order, roles, ids,
names, empty text, markers, signatures, document names, Unicode. Facts about the request beside the payload (`thinking`,
`prefill`, `systemInTurns`, `model`, `stored`) sharpen the rules that depend on them.
"""

from __future__ import annotations

import base64
import binascii
import json
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

Json = Any


class Finding(NamedTuple):
    """One breach: the rule, the place as a JSON Pointer, and what is wrong."""

    rule: str
    path: str
    problem: str


class Judge:
    """The findings of one payload."""

    def __init__(self, vendor: str, facts: Mapping[str, Any]) -> None:
        self.vendor = vendor
        self.facts = facts
        self.found: list[Finding] = []

    def add(self, rule: str, path: str, problem: str) -> None:
        self.found.append(Finding(rule, path, problem))

    def need(self, holds: bool, rule: str, path: str, problem: str) -> bool:
        if not holds:
            self.add(rule, path, problem)
        return holds


def judge(vendor: str, body: Mapping[str, Json], **facts: Any) -> list[Finding]:
    """Return what this vendor would refuse the payload for; an empty list is a clean payload."""
    judged = Judge(vendor, facts)
    unicode(judged, body, "")
    try:
        _FAMILIES.get(vendor, chat)(judged, body)
    except (KeyError, TypeError, AttributeError, IndexError, ValueError) as error:
        judged.add("X8", "", f"the payload has not the vendor's shape: {error!r}")
    return judged.found


# --- common -----------------------------------------------------------------------------------------------------------

_WORD = re.compile(r"[a-zA-Z0-9_-]+")
_TOOL = re.compile(r"[a-zA-Z0-9_-]{1,64}")
_SURROGATE = re.compile("[\ud800-\udfff]")


def unicode(judged: Judge, value: Json, path: str) -> None:
    """X14: no string holds a lone surrogate."""
    if isinstance(value, str):
        judged.need(not _SURROGATE.search(value), "X14", path, "lone surrogate")
    elif isinstance(value, list):
        for index, part in enumerate(value):
            unicode(judged, part, f"{path}/{index}")
    elif isinstance(value, dict):
        for key, part in value.items():
            unicode(judged, key, f"{path}/(key)")
            unicode(judged, part, f"{path}/{key}")


def blank(text: Json) -> bool:
    return not isinstance(text, str) or not text.strip()


def json_object(text: Json) -> bool:
    """Say whether a string is strict JSON of an object."""

    def refuse(constant: str) -> float:
        raise ValueError(constant)

    try:
        return isinstance(json.loads(text, parse_constant=refuse), dict)
    except (ValueError, TypeError, RecursionError):
        return False


def arguments(judged: Judge, text: Json, path: str) -> None:
    """X7, X14: a string that is strict JSON of an object, whose strings are well-formed Unicode."""
    if judged.need(isinstance(text, str) and json_object(text), "X7", path, "arguments are no JSON object"):
        unicode(judged, json.loads(text), path)


def base64_text(value: Json) -> bool:
    if not isinstance(value, str) or not value:
        return False
    try:
        base64.b64decode(value, validate=True)
    except (ValueError, binascii.Error):
        return False
    return True


def markers(value: Json) -> Iterator[dict[str, Json]]:
    """Yield every object that carries a cache marker."""
    if isinstance(value, dict):
        if "cache_control" in value or "cachePoint" in value:
            yield value
        for part in value.values():
            yield from markers(part)
    elif isinstance(value, list):
        for part in value:
            yield from markers(part)


def cache(judged: Judge, body: Json) -> None:
    """X16: at most four markers, none on thinking or empty text."""
    found = list(markers(body))
    judged.need(len(found) <= 4, "X16", "", f"{len(found)} cache markers")
    for block in found:
        kind = block.get("type")
        on_empty = kind == "text" and blank(block.get("text"))
        judged.need(
            kind not in ("thinking", "redacted_thinking") and not on_empty,
            "X16",
            "",
            "cache marker on thinking or empty text",
        )


def fresh(judged: Judge, seen: set[str], call_id: str, path: str) -> None:
    """X3: an id is used for one call of the request only."""
    judged.need(call_id not in seen, "X3", path, "id of an earlier call")
    seen.add(call_id)


# --- the chat family --------------------------------------------------------------------------------------------------

_CHAT_KEYS = {
    "system": {"role", "content", "name"},
    "developer": {"role", "content", "name"},
    "user": {"role", "content", "name"},
    "assistant": {"role", "content", "name", "refusal", "tool_calls", "audio"},
    "tool": {"role", "content", "tool_call_id"},
}
_MORE_KEYS: dict[str, dict[str, set[str]]] = {
    "mistral": {"assistant": {"prefix"}, "tool": {"name"}},
    "deepseek": {"assistant": {"reasoning_content", "prefix"}},
    "kimi": {"assistant": {"reasoning_content", "partial"}, "tool": {"name"}},
    "qwen": {"assistant": {"reasoning_content", "partial"}},
    "glm": {"assistant": {"reasoning_content"}},
    "openrouter": {"assistant": {"reasoning", "reasoning_details"}, "tool": {"name"}},
    "groq": {"assistant": {"reasoning"}},
    "cerebras": {"assistant": {"reasoning"}},
    "openai-compatible": {"assistant": {"reasoning_content", "reasoning"}, "tool": {"name"}},
}
_STRING_RESULTS = {"deepseek", "kimi", "qwen", "glm", "mistral", "xai", "openai-compatible"}
_SYSTEM_FIRST = {"qwen"}
_NAMELESS = {"xai", "mistral"}


def chat(judged: Judge, body: Mapping[str, Json]) -> None:
    """Chat Completions: OpenAI and those that speak its dialect."""
    vendor = judged.vendor
    messages = body["messages"]
    judged.need(bool(messages), "X18", "/messages", "no message")
    seen: set[str] = set()
    index = 0
    while index < len(messages):
        message = messages[index]
        path = f"/messages/{index}"
        role = message["role"]
        if not judged.need(role in _CHAT_KEYS, "X8", path, f"role {role}"):
            index += 1
            continue
        allowed = _CHAT_KEYS[role] | _MORE_KEYS.get(vendor, {}).get(role, set())
        judged.need(set(message) <= allowed, "X17", path, f"unknown keys {sorted(set(message) - allowed)}")
        _name(judged, message, path)
        _content(judged, message, path)
        if role == "assistant":
            index = _assistant(judged, messages, index, seen)
            continue
        if role == "tool":
            judged.add("X2", path, "result without a call before its run")
        index += 1
    roles = [message["role"] for message in messages]
    _chat_order(judged, roles, messages)
    cache(judged, body)


def _chat_order(judged: Judge, roles: list[str], messages: list[dict[str, Json]]) -> None:
    vendor = judged.vendor
    strict = judged.facts.get("strictTemplate", vendor == "openai-compatible")
    if vendor in _SYSTEM_FIRST or strict:
        judged.need("system" not in roles[1:], "X9", "/messages", "system behind the first place")
    if strict:
        turns = [role for role in roles if role != "system"]
        for before, after in zip(turns, turns[1:], strict=False):
            judged.need(before != after or after == "tool", "X12", "/messages", f"two {after} messages in a row")
    if vendor == "glm":
        judged.need("user" in roles, "X18", "/messages", "no user message")
    if vendor != "mistral":
        return
    for before, after in zip(roles, roles[1:], strict=False):
        judged.need((before, after) != ("tool", "user"), "X21", "/messages", "user directly behind tool")
        judged.need((before, after) != ("assistant", "system"), "X9", "/messages", "system behind assistant")
        judged.need((before, after) != ("tool", "system"), "X9", "/messages", "system behind tool")
    if roles:
        last = roles[-1] in ("user", "tool") or messages[-1].get("prefix") is True
        judged.need(last, "X10", "/messages", f"last role {roles[-1]}")


def _name(judged: Judge, message: Mapping[str, Json], path: str) -> None:
    if "name" not in message:
        return
    name = message["name"]
    if judged.vendor in _NAMELESS and message["role"] != "tool":
        judged.add("X19", path, "name is not taken")
    judged.need(isinstance(name, str) and _WORD.fullmatch(name) is not None, "X19", path, "alphabet of name")


def _content(judged: Judge, message: Mapping[str, Json], path: str) -> None:
    vendor, role = judged.vendor, message["role"]
    content = message.get("content")
    if content is None:
        calls = bool(message.get("tool_calls"))
        judged.need(role == "assistant" and calls, "X6", path, "no content")
        if vendor in ("xai", "openai-compatible"):
            judged.add("X6", path, "content must be a string")
        return
    if isinstance(content, str):
        if role == "assistant" and not message.get("tool_calls") and vendor in ("mistral", "openai-compatible"):
            judged.need(bool(content), "X6", path, "empty assistant message")
        return
    string_only = vendor == "deepseek" or (role == "tool" and vendor in _STRING_RESULTS)
    if not judged.need(isinstance(content, list) and not string_only, "X8", path, "content must be a string"):
        return
    judged.need(bool(content), "X6", path, "no part")
    for number, part in enumerate(content):
        place = f"{path}/content/{number}"
        kind = part["type"]
        if role == "user":
            allowed = {"text", "image_url", "input_audio", "file", "document_url", "video_url"}
        elif role == "assistant":
            allowed = {"text", "refusal"} | ({"thinking"} if vendor == "mistral" else set())
        else:
            allowed = {"text"}
        judged.need(
            kind in allowed, "X15" if kind in ("image_url", "input_audio", "file") else "X8", place, f"{kind} in {role}"
        )
        if kind == "text":
            judged.need(isinstance(part["text"], str), "X8", place, "text is no string")


def _assistant(judged: Judge, messages: list[dict[str, Json]], index: int, seen: set[str]) -> int:
    """Judge one assistant message with the run of results behind it; return the index behind the run."""
    vendor = judged.vendor
    message = messages[index]
    path = f"/messages/{index}"
    if "tool_calls" in message:
        judged.need(bool(message["tool_calls"]), "X6", path, "empty tool_calls")
    ids: list[str] = []
    for number, call in enumerate(message.get("tool_calls") or ()):
        place = f"{path}/tool_calls/{number}"
        ids.append(call["id"])
        _chat_call(judged, call, place)
        fresh(judged, seen, call["id"], place)
    if ids and vendor == "deepseek" and judged.facts.get("thinking", True):
        judged.need(isinstance(message.get("reasoning_content"), str), "X13", path, "no reasoning_content with calls")
    if ids and vendor == "kimi" and judged.facts.get("thinking"):
        judged.need(bool(message.get("reasoning_content")), "X13", path, "no reasoning_content with calls")
    _details(judged, message, ids, path)
    index += 1
    answered: list[str] = []
    while index < len(messages) and messages[index]["role"] == "tool":
        result = messages[index]
        place = f"/messages/{index}"
        allowed = _CHAT_KEYS["tool"] | _MORE_KEYS.get(vendor, {}).get("tool", set())
        judged.need(set(result) <= allowed, "X17", place, f"unknown keys {sorted(set(result) - allowed)}")
        _content(judged, result, place)
        call_id = result["tool_call_id"]
        judged.need(call_id in ids, "X2", place, "result of a call that is not in front")
        judged.need(call_id not in answered, "X3", place, "second result of a call")
        answered.append(call_id)
        index += 1
    judged.need(set(ids) <= set(answered), "X1", path, "call without a result directly behind")
    return index


def _chat_call(judged: Judge, call: Mapping[str, Json], path: str) -> None:
    vendor = judged.vendor
    call_id, function = call["id"], call["function"]
    if judged.need(isinstance(call_id, str) and bool(call_id), "X4", path, "no id"):
        if vendor in ("openai-chat", "azure-openai"):
            judged.need(len(call_id) <= 40, "X4", path, "id over 40 characters")
        if vendor == "mistral" and judged.facts.get("callIdFormat") != "any":
            judged.need(re.fullmatch(r"[a-zA-Z0-9]{9}", call_id) is not None, "X4", path, "id is not 9 letters")
    judged.need(call.get("type") == "function", "X8", path, "type is not function")
    judged.need(_TOOL.fullmatch(function["name"]) is not None, "X5", path, "alphabet of the tool name")
    arguments(judged, function.get("arguments"), path)


def _details(judged: Judge, message: Mapping[str, Json], ids: list[str], path: str) -> None:
    """OpenRouter: a Gemini detail that names a call names one of this message."""
    for number, detail in enumerate(message.get("reasoning_details") or ()):
        google = str(detail.get("format", "")).startswith("google")
        if google and detail.get("id") is not None and ids:
            judged.need(detail["id"] in ids, "X13", f"{path}/reasoning_details/{number}", "detail of an unknown call")


# --- OpenAI Responses -------------------------------------------------------------------------------------------------

_PREFIX = {"message": "msg", "reasoning": "rs", "function_call": "fc", "custom_tool_call": "ctc"}
_PARTS = {
    "assistant": {"output_text", "refusal"},
    "user": {"input_text", "input_image", "input_file", "input_audio"},
    "system": {"input_text"},
    "developer": {"input_text"},
}


def responses(judged: Judge, body: Mapping[str, Json]) -> None:
    """OpenAI Responses: input items."""
    items = body["input"]
    judged.need(bool(items), "X18", "/input", "no item")
    if "instructions" in body:
        judged.need(isinstance(body["instructions"], str), "X8", "/instructions", "no string")
    calls: set[str] = set()
    answered: set[str] = set()
    item_ids: set[str] = set()
    for index, item in enumerate(items):
        path = f"/input/{index}"
        kind = item.get("type", "message")
        _item_id(judged, item, kind, path, item_ids)
        if kind == "message":
            _response_message(judged, item, path)
        elif kind == "function_call":
            call_id = item["call_id"]
            judged.need(re.fullmatch(r"[A-Za-z0-9_-]{1,64}", call_id) is not None, "X4", path, "alphabet of call_id")
            fresh(judged, calls, call_id, path)
            judged.need(_TOOL.fullmatch(item["name"]) is not None, "X5", path, "alphabet of the tool name")
            arguments(judged, item["arguments"], path)
        elif kind == "function_call_output":
            call_id = item["call_id"]
            judged.need(call_id in calls, "X2", path, "output without a call in front")
            judged.need(call_id not in answered, "X3", path, "second output of a call")
            answered.add(call_id)
            _output(judged, item["output"], path)
        elif kind == "reasoning":
            judged.need(isinstance(item.get("summary"), list), "X13", path, "no summary")
            stored = bool(judged.facts.get("stored"))
            judged.need(bool(item.get("encrypted_content")) or stored, "X13", path, "reasoning cannot be resolved")
            following = items[index + 1] if index + 1 < len(items) else {}
            spoken = following.get("type", "message") == "message" and following.get("role") == "assistant"
            # The vendor's own tools (`web_search_call`, `custom_tool_call`, ...) are items of a response as well.
            goes_on = spoken or following.get("type", "").endswith(("_call", "reasoning"))
            judged.need(goes_on, "X13", path, "reasoning without its following item")
    judged.need(calls <= answered, "X1", "/input", "call without an output")


def _item_id(judged: Judge, item: Mapping[str, Json], kind: str, path: str, seen: set[str]) -> None:
    if "id" not in item:
        return
    item_id = item["id"]
    judged.need(bool(item_id) and str(item_id).startswith(_PREFIX.get(kind, "")), "X4", path, "prefix of the item id")
    judged.need(re.fullmatch(r"[A-Za-z0-9_-]{1,64}", str(item_id)) is not None, "X4", path, "alphabet of the item id")
    judged.need(item_id not in seen, "X3", path, "item id used twice")
    seen.add(item_id)


def _response_message(judged: Judge, item: Mapping[str, Json], path: str) -> None:
    role, content = item["role"], item["content"]
    if not judged.need(role in _PARTS, "X8", path, f"role {role}") or isinstance(content, str):
        return
    judged.need(bool(content), "X6", path, "no part")
    for number, part in enumerate(content):
        kind = part["type"]
        rule = "X15" if kind in ("input_image", "input_file") else "X8"
        judged.need(kind in _PARTS[role], rule, f"{path}/content/{number}", f"{kind} in {role}")


def _output(judged: Judge, output: Json, path: str) -> None:
    if isinstance(output, str):
        return
    for part in output:
        judged.need(
            part["type"] in ("input_text", "input_image", "input_file"), "X8", path, f"{part['type']} in output"
        )


# --- Anthropic and Bedrock --------------------------------------------------------------------------------------------

_IMAGE_TYPES = {"image/jpeg", "image/png", "image/gif", "image/webp"}
_SERVER_RESULTS = re.compile(r"(\w+)_tool_result")


def anthropic(judged: Judge, body: Mapping[str, Json]) -> None:
    """Anthropic Messages."""
    messages = body["messages"]
    judged.need(bool(messages), "X18", "/messages", "at least one message is required")
    system = body.get("system")
    if system is not None:
        for block in [{"text": system}] if isinstance(system, str) else system:
            judged.need(not blank(block["text"]), "X6", "/system", "blank system text")
    roles = [message["role"] for message in messages]
    if roles:
        judged.need(roles[0] == "user", "X11", "/messages/0", "first role is not user")
    seen: set[str] = set()
    waiting: list[str] = []
    for index, message in enumerate(messages):
        path = f"/messages/{index}"
        blocks = _anthropic_blocks(judged, message, path, last=index == len(messages) - 1)
        results = [block["tool_use_id"] for block in blocks if block["type"] == "tool_result"]
        role = message["role"]
        if role == "system":
            _system_turn(judged, roles, index)
        _pairs(judged, results, waiting, path)
        first = [block["type"] == "tool_result" for block in blocks]
        judged.need(first == sorted(first, reverse=True), "X1", path, "results do not open the message")
        judged.need(role == "user" or not results, "X2", path, "results outside a user message")
        waiting = _anthropic_uses(judged, blocks, path, seen) if role == "assistant" else []
    judged.need(not waiting, "X1", "/messages", "call without a result in the next message")
    if roles:
        _anthropic_end(judged, messages[-1])
    cache(judged, body)


def _pairs(judged: Judge, results: list[str], waiting: list[str], path: str) -> None:
    """X1, X2, X3: the results of a message answer the calls of the message before, each once."""
    for call_id in results:
        judged.need(call_id in waiting, "X2", path, "result without its call in the message before")
    judged.need(len(results) == len(set(results)), "X3", path, "two results of one call")
    judged.need(set(waiting) <= set(results), "X1", path, "call without a result in the next message")


def _system_turn(judged: Judge, roles: list[str], index: int) -> None:
    path = f"/messages/{index}"
    judged.need(judged.facts.get("systemInTurns") is True, "X9", path, "the model takes no system role")
    judged.need(index > 0 and roles[index - 1] == "user", "X9", path, "system not behind a user turn")
    judged.need(
        index + 1 == len(roles) or roles[index + 1] == "assistant", "X9", path, "system in front of no assistant"
    )


def _anthropic_blocks(judged: Judge, message: Mapping[str, Json], path: str, last: bool) -> list[dict[str, Json]]:
    content = message["content"]
    if isinstance(content, str):
        content = [{"type": "text", "text": content}]
    judged.need(bool(content), "X6", path, "empty content")
    for number, block in enumerate(content):
        _anthropic_block(judged, block, message["role"], f"{path}/content/{number}")
    return list(content)


def _anthropic_block(judged: Judge, block: Mapping[str, Json], role: str, path: str) -> None:
    kind = block["type"]
    if kind == "text":
        judged.need(not blank(block["text"]), "X6", path, "blank text")
    elif kind in ("image", "document"):
        judged.need(role != "assistant", "X15", path, f"{kind} in an assistant turn")
        source = block["source"]
        if source["type"] == "base64":
            types = _IMAGE_TYPES if kind == "image" else {"application/pdf"}
            judged.need(source["media_type"] in types, "X15", path, f"media type {source['media_type']}")
            judged.need(base64_text(source["data"]), "X15", path, "data is no base64")
    elif kind == "tool_use":
        judged.need(_WORD.fullmatch(block["id"]) is not None, "X4", path, "alphabet of the id")
        judged.need(re.fullmatch(r"[a-zA-Z0-9_-]{1,128}", block["name"]) is not None, "X5", path, "tool name")
        judged.need(isinstance(block["input"], dict), "X7", path, "input is no object")
    elif kind == "tool_result":
        judged.need(_WORD.fullmatch(block["tool_use_id"]) is not None, "X4", path, "alphabet of the id")
        inner = block.get("content", [])
        if isinstance(inner, str):
            judged.need(not block.get("is_error") or bool(inner), "X8", path, "failed result without text")
            return
        judged.need(not block.get("is_error") or bool(inner), "X8", path, "failed result without text")
        for number, part in enumerate(inner):
            judged.need(part["type"] in ("text", "image", "document", "search_result"), "X8", path, part["type"])
            _anthropic_block(judged, part, "user", f"{path}/content/{number}")
            if block.get("is_error"):
                judged.need(part["type"] == "text", "X8", path, "failed result with media")
    elif kind == "thinking":
        judged.need(bool(block.get("signature")) and role == "assistant", "X13", path, "thinking without a signature")
    elif kind == "redacted_thinking":
        judged.need(bool(block.get("data")) and role == "assistant", "X13", path, "redacted thinking without data")


def _anthropic_uses(judged: Judge, blocks: list[dict[str, Json]], path: str, seen: set[str]) -> list[str]:
    kinds = [block["type"] for block in blocks]
    if kinds:
        judged.need(kinds[-1] not in ("thinking", "redacted_thinking"), "X13", path, "message ends with thinking")
    uses = [block for block in blocks if block["type"] == "tool_use"]
    if uses:
        behind = kinds[kinds.index("tool_use") :]
        judged.need(set(behind) == {"tool_use"}, "X20", path, "content behind a call")
    for block in uses:
        fresh(judged, seen, block["id"], path)
    served: set[str] = set()
    for block in blocks:
        if block["type"] == "server_tool_use":
            served.add(block["id"])
        elif _SERVER_RESULTS.fullmatch(block["type"]):
            judged.need(block.get("tool_use_id") in served, "X1", path, "server result without its use in front")
    return [block["id"] for block in uses]


def _anthropic_end(judged: Judge, last: Mapping[str, Json]) -> None:
    if last["role"] != "assistant":
        return
    judged.need(judged.facts.get("prefill") is not False, "X10", "/messages", "the model takes no prefill")
    content = last["content"]
    text = content if isinstance(content, str) else content[-1].get("text", "") if content else ""
    judged.need(text == text.rstrip(), "X10", "/messages", "final text ends with white space")


def bedrock(judged: Judge, body: Mapping[str, Json]) -> None:
    """AWS Bedrock Converse."""
    messages = body["messages"]
    judged.need(bool(messages), "X18", "/messages", "no message")
    for block in body.get("system", ()):
        judged.need("text" not in block or not blank(block["text"]), "X6", "/system", "blank system text")
    roles = [message["role"] for message in messages]
    judged.need(set(roles) <= {"user", "assistant"}, "X9", "/messages", "other role")
    if roles:
        judged.need(roles[0] == "user", "X11", "/messages/0", "first role is not user")
    for before, after in zip(roles, roles[1:], strict=False):
        judged.need(before != after, "X12", "/messages", f"two {after} messages in a row")
    seen: set[str] = set()
    names: set[str] = set()
    waiting: list[str] = []
    documents = 0
    for index, message in enumerate(messages):
        path = f"/messages/{index}"
        blocks = message["content"]
        judged.need(bool(blocks), "X6", path, "empty content")
        kinds = [next(iter(block)) for block in blocks]
        results = [block["toolResult"]["toolUseId"] for block in blocks if "toolResult" in block]
        _pairs(judged, results, waiting, path)
        first = [kind == "toolResult" for kind in kinds]
        judged.need(first == sorted(first, reverse=True), "X1", path, "results do not open the message")
        judged.need(message["role"] == "user" or not results, "X2", path, "results outside a user message")
        if "toolUse" in kinds:
            judged.need(message["role"] == "assistant", "X8", path, "call outside an assistant message")
            judged.need(set(kinds[kinds.index("toolUse") :]) == {"toolUse"}, "X20", path, "content behind a call")
        if kinds and message["role"] == "assistant":
            judged.need(kinds[-1] != "reasoningContent", "X13", path, "message ends with reasoning")
            judged.need(not {"image", "document", "video"} & set(kinds), "X15", path, "media in an assistant turn")
        waiting = []
        for number, block in enumerate(blocks):
            place = f"{path}/content/{number}"
            documents += _bedrock_block(judged, block, place, names)
            if "toolUse" in block:
                fresh(judged, seen, block["toolUse"]["toolUseId"], place)
                waiting.append(block["toolUse"]["toolUseId"])
        if "document" in kinds:
            judged.need("text" in kinds, "X15", path, "document without a text beside it")
    judged.need(not waiting, "X1", "/messages", "call without a result in the next message")
    judged.need(documents <= 5, "X15", "", f"{documents} documents")
    if roles and roles[-1] == "assistant":
        judged.need(judged.facts.get("prefill") is not False, "X10", "/messages", "the model takes no prefill")
        text = messages[-1]["content"][-1].get("text", "") if messages[-1]["content"] else ""
        judged.need(text == text.rstrip(), "X10", "/messages", "final text ends with white space")
    cache(judged, body)


_DOCUMENT = re.compile(r"[a-zA-Z0-9_()\[\]-]+( [a-zA-Z0-9_()\[\]-]+)*")


def _bedrock_block(judged: Judge, block: Mapping[str, Json], path: str, names: set[str]) -> int:
    """Judge one block; return how many documents it holds."""
    judged.need(len(block) == 1, "X8", path, "block with several members")
    ((kind, value),) = block.items()
    documents = 0
    if kind == "text":
        judged.need(not blank(value), "X6", path, "blank text")
    elif kind == "toolUse":
        judged.need(re.fullmatch(r"[a-zA-Z0-9_.:-]{1,64}", value["toolUseId"]) is not None, "X4", path, "id")
        judged.need(_TOOL.fullmatch(value["name"]) is not None, "X5", path, "tool name")
        judged.need(isinstance(value["input"], dict), "X7", path, "input is no object")
    elif kind == "toolResult":
        judged.need(re.fullmatch(r"[a-zA-Z0-9_.:-]{1,64}", value["toolUseId"]) is not None, "X4", path, "id")
        judged.need(bool(value["content"]), "X6", path, "result without content")
        for number, part in enumerate(value["content"]):
            allowed = {"text", "json", "image", "document", "video", "searchResult"}
            judged.need(set(part) <= allowed, "X8", path, f"{set(part)} in a result")
            documents += _bedrock_block(judged, part, f"{path}/content/{number}", names)
    elif kind == "json":
        judged.need(isinstance(value, dict), "X8", path, "json of a result is no object")
    elif kind == "image":
        judged.need(value["format"] in ("png", "jpeg", "gif", "webp"), "X15", path, f"format {value['format']}")
        _bedrock_source(judged, value["source"], path)
    elif kind == "document":
        documents = 1
        name = value["name"]
        judged.need(_DOCUMENT.fullmatch(name) is not None and len(name) <= 200, "X15", path, "document name")
        judged.need(name not in names, "X15", path, "document name used twice")
        names.add(name)
        _bedrock_source(judged, value["source"], path)
    elif kind == "reasoningContent":
        text = value.get("reasoningText")
        signed = bool(text.get("signature")) if text else bool(value.get("redactedContent"))
        judged.need(signed, "X13", path, "reasoning without a signature")
    return documents


def _bedrock_source(judged: Judge, source: Mapping[str, Json], path: str) -> None:
    if "bytes" in source:
        judged.need(base64_text(source["bytes"]), "X15", path, "bytes are no base64")
    else:
        judged.need(set(source) <= {"s3Location", "text", "content"}, "X15", path, f"source {set(source)}")


# --- Gemini -----------------------------------------------------------------------------------------------------------

_DATA_FIELDS = {
    "text",
    "inlineData",
    "fileData",
    "functionCall",
    "functionResponse",
    "executableCode",
    "codeExecutionResult",
}


def gemini(judged: Judge, body: Mapping[str, Json]) -> None:
    """Gemini generateContent."""
    contents = body["contents"]
    judged.need(bool(contents), "X18", "/contents", "at least one contents field is required")
    for part in body.get("systemInstruction", {}).get("parts", ()):
        judged.need(not blank(part["text"]), "X6", "/systemInstruction", "blank system text")
    roles = [content["role"] for content in contents]
    judged.need(set(roles) <= {"user", "model"}, "X9", "/contents", "other role")
    if roles:
        judged.need(roles[0] == "user", "X11", "/contents/0", "first role is not user")
        prefill = judged.facts.get("prefill") is True
        judged.need(roles[-1] == "user" or prefill, "X10", "/contents", "ends on a model turn")
    for before, after in zip(roles, roles[1:], strict=False):
        judged.need(before != after, "X12", "/contents", f"two {after} contents in a row")
    waiting: list[dict[str, Json]] = []
    for index, content in enumerate(contents):
        path = f"/contents/{index}"
        parts = content["parts"]
        judged.need(bool(parts), "X6", path, "no part")
        for number, part in enumerate(parts):
            _gemini_part(judged, part, f"{path}/parts/{number}")
        calls = [part["functionCall"] for part in parts if "functionCall" in part]
        results = [part["functionResponse"] for part in parts if "functionResponse" in part]
        judged.need(not calls or content["role"] == "model", "X8", path, "call outside a model turn")
        judged.need(not results or content["role"] == "user", "X8", path, "response outside a user turn")
        _gemini_pairs(judged, waiting, results, path)
        waiting = calls
        ids = [call["id"] for call in calls if "id" in call]
        judged.need(len(ids) == len(set(ids)), "X3", path, "two calls with one id")
    judged.need(not waiting, "X1", "/contents", "call without a response turn")
    _gemini_signatures(judged, contents)


def _gemini_part(judged: Judge, part: Mapping[str, Json], path: str) -> None:
    data = set(part) & _DATA_FIELDS
    judged.need(len(data) == 1, "X6", path, f"data fields {sorted(data)}")
    if "text" in part and not (part.get("thought") and "thoughtSignature" in part):
        # A signed thought goes back as it came, whatever its text.
        judged.need(not blank(part["text"]), "X6", path, "blank text")
    if "functionCall" in part:
        judged.need(isinstance(part["functionCall"].get("args", {}), dict), "X7", path, "args are no object")
        name = part["functionCall"]["name"]
        judged.need(re.fullmatch(r"[a-zA-Z_][a-zA-Z0-9_.:-]{0,127}", name) is not None, "X5", path, "tool name")
    if "functionResponse" in part:
        judged.need(isinstance(part["functionResponse"]["response"], dict), "X8", path, "response is no object")
        judged.need(bool(part["functionResponse"]["name"]), "X1", path, "response without a name")
        for number, inner in enumerate(part["functionResponse"].get("parts", ())):
            judged.need(set(inner) <= {"inlineData", "fileData"}, "X15", f"{path}/parts/{number}", "part of a response")
    if "inlineData" in part:
        judged.need(base64_text(part["inlineData"]["data"]), "X15", path, "data is no base64")
    if "thoughtSignature" in part:
        judged.need(base64_text(part["thoughtSignature"]), "X13", path, "signature is no base64")


def _gemini_pairs(judged: Judge, waiting: list[dict[str, Json]], results: list[dict[str, Json]], path: str) -> None:
    if results and not waiting:
        judged.add("X2", path, "response without a call turn in front")
        return
    judged.need(len(results) == len(waiting), "X1", path, f"{len(waiting)} calls, {len(results)} responses")
    by_id = {call["id"]: call["name"] for call in waiting if "id" in call}
    for result in results:
        if "id" in result:
            known = result["id"] in by_id
            judged.need(known, "X2", path, "response to an unknown call id")
            judged.need(not known or by_id[result["id"]] == result["name"], "X1", path, "name of another call")
    names = sorted(call["name"] for call in waiting)
    judged.need(sorted(result["name"] for result in results) == names or not results, "X1", path, "names differ")


def _gemini_signatures(judged: Judge, contents: list[dict[str, Json]]) -> None:
    """Gemini 3: in the current turn the first call of each step carries a signature."""
    if not str(judged.facts.get("model") or "").startswith("gemini-3"):
        return
    start = max(
        (
            index
            for index, content in enumerate(contents)
            if content["role"] == "user" and not any("functionResponse" in part for part in content["parts"])
        ),
        default=0,
    )
    for index in range(start, len(contents)):
        first = next((part for part in contents[index]["parts"] if "functionCall" in part), None)
        if first is not None:
            judged.need(bool(first.get("thoughtSignature")), "X13", f"/contents/{index}", "no thought signature")


# --- Ollama, Cohere ---------------------------------------------------------------------------------------------------

_OLLAMA_KEYS = {"role", "content", "images", "thinking", "tool_calls", "tool_name"}


def ollama(judged: Judge, body: Mapping[str, Json]) -> None:
    """Ollama chat."""
    messages = body["messages"]
    judged.need(bool(messages), "X18", "/messages", "no message")
    waiting: list[str] = []
    for index, message in enumerate(messages):
        path = f"/messages/{index}"
        judged.need(set(message) <= _OLLAMA_KEYS, "X17", path, f"unknown keys {set(message) - _OLLAMA_KEYS}")
        judged.need(isinstance(message.get("content"), str), "X8", path, "content is no string")
        role = message["role"]
        judged.need(role in ("system", "user", "assistant", "tool"), "X8", path, f"role {role}")
        judged.need(role != "system" or index == 0, "X9", path, "system behind the first place")
        for image in message.get("images") or ():
            judged.need(base64_text(image), "X15", path, "image is no bare base64")
            judged.need(role == "user", "X15", path, "image outside a user message")
        if role == "tool":
            if judged.need(bool(waiting), "X2", path, "result without a call in front"):
                name = message.get("tool_name", waiting[0])
                if judged.need(name in waiting, "X2", path, "result of another tool"):
                    waiting.remove(name)
            continue
        judged.need(not waiting, "X1", path, "call without a result directly behind")
        if "tool_calls" in message:
            judged.need(bool(message["tool_calls"]), "X6", path, "empty tool_calls")
        waiting = []
        for call in message.get("tool_calls") or ():
            judged.need(isinstance(call["function"]["arguments"], dict), "X7", path, "arguments are no object")
            judged.need(bool(call["function"]["name"]), "X5", path, "no tool name")
            waiting.append(call["function"]["name"])
    judged.need(not waiting, "X1", "/messages", "call without a result")


def cohere(judged: Judge, body: Mapping[str, Json]) -> None:
    """Cohere v2 chat."""
    messages = body["messages"]
    judged.need(bool(messages), "X18", "/messages", "no message")
    seen: set[str] = set()
    waiting: list[str] = []
    for index, message in enumerate(messages):
        path = f"/messages/{index}"
        role, content = message["role"], message.get("content")
        if role == "tool":
            judged.need(message["tool_call_id"] in waiting, "X2", path, "result without its call in front")
            waiting = [call_id for call_id in waiting if call_id != message["tool_call_id"]]
            types = {"text", "document"}
        else:
            judged.need(not waiting, "X1", path, "call without a result directly behind")
            types = {"user": {"text", "image_url"}, "assistant": {"text", "thinking"}}.get(role, {"text"})
            judged.need(role in ("user", "assistant", "system"), "X8", path, f"role {role}")
            waiting = []
        if isinstance(content, list):
            judged.need(bool(content), "X6", path, "no part")
            for part in content:
                rule = "X15" if part["type"] == "image_url" else "X8"
                judged.need(part["type"] in types, rule, path, f"{part['type']} in {role}")
        elif content is None:
            judged.need(role == "assistant" and bool(message.get("tool_calls")), "X6", path, "no content")
        if "tool_calls" in message:
            judged.need(bool(message["tool_calls"]), "X6", path, "empty tool_calls")
        for number, call in enumerate(message.get("tool_calls") or ()):
            place = f"{path}/tool_calls/{number}"
            _chat_call(judged, call, place)
            fresh(judged, seen, call["id"], place)
            waiting.append(call["id"])
    judged.need(not waiting, "X1", "/messages", "call without a result")


_FAMILIES: dict[str, Callable[[Judge, Mapping[str, Json]], None]] = {
    "openai-responses": responses,
    "anthropic-messages": anthropic,
    "bedrock-converse": bedrock,
    "gemini": gemini,
    "ollama": ollama,
    "cohere": cohere,
}
