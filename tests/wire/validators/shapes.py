"""The vendors' own SDK types as judges of payload shapes; `problems(vendor, body)` lists what they refuse.

Rules:
- Types come from the installed SDKs, never from our code. A vendor whose SDK is missing raises `Missing`; the tests
  then skip loudly.
- TypedDicts are not validated by pydantic itself: it reads `Iterable[...]` fields lazily and lets unknown keys pass.
  Their JSON Schema is taken instead, closed by `additionalProperties: false`, and judged by jsonschema. A message is
  judged by the branch of its role or type only, so that an error names its cause.
- botocore checks neither patterns nor lengths nor enums: `_walk` reads them from the same service model.
"""

from __future__ import annotations

import base64
import functools
import importlib
import json
from collections.abc import Callable, Iterator, Mapping
from types import ModuleType
from typing import Any, get_args

from tests.wire.validators.rules import base64_text

Json = Any


class Missing(Exception):
    """The SDK of this vendor is not installed."""


def problems(vendor: str, body: Mapping[str, Json]) -> list[str]:
    """Return what the vendor's own types refuse; raise `Missing` without the SDK."""
    return list(_JUDGES[vendor](body))


def covered(vendor: str) -> bool:
    """Say whether an official SDK judges this vendor."""
    return vendor in _JUDGES


def _sdk(name: str) -> ModuleType:
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise Missing(f"{name} is not installed; pip install -e '.[test]'") from error


# --- closed JSON Schemas of TypedDicts --------------------------------------------------------------------------------


@functools.cache
def _validator(kind: Any) -> Any:
    from jsonschema import Draft202012Validator
    from pydantic import TypeAdapter

    schema = TypeAdapter(kind).json_schema()
    _close(schema)
    return Draft202012Validator(schema)


def _close(schema: Json) -> None:
    """Refuse unknown keys in every object that names its properties."""
    if isinstance(schema, dict):
        if "properties" in schema:
            schema.setdefault("additionalProperties", False)
        for part in schema.values():
            _close(part)
    elif isinstance(schema, list):
        for part in schema:
            _close(part)


def _errors(kind: Any, value: Json, path: str) -> Iterator[str]:
    for error in _validator(kind).iter_errors(value):
        deepest = error
        while deepest.context:
            deepest = max(deepest.context, key=lambda inner: len(inner.absolute_path))
        place = "/".join(str(part) for part in error.absolute_path)
        yield f"{path}/{place}: {deepest.message[:300]}"


def _by_role(kinds: Mapping[str, Any], messages: list[Json], path: str = "/messages") -> Iterator[str]:
    for index, message in enumerate(messages):
        kind = kinds.get(message.get("role"))
        if kind is None:
            yield f"{path}/{index}: role {message.get('role')!r} is unknown"
        else:
            yield from _errors(kind, message, f"{path}/{index}")


# --- OpenAI, Groq, Cerebras -------------------------------------------------------------------------------------------


def _openai_chat(body: Mapping[str, Json]) -> Iterator[str]:
    chat = _sdk("openai.types.chat")
    kinds = {role: getattr(chat, f"ChatCompletion{role.title()}MessageParam") for role in _ROLES}
    yield from _by_role(kinds, body["messages"])


def _groq(body: Mapping[str, Json]) -> Iterator[str]:
    chat = _sdk("groq.types.chat")
    kinds = {role: getattr(chat, f"ChatCompletion{role.title()}MessageParam") for role in _ROLES if role != "developer"}
    yield from _by_role(kinds, body["messages"])


def _cerebras(body: Mapping[str, Json]) -> Iterator[str]:
    params = _sdk("cerebras.cloud.sdk.types.chat.completion_create_params")
    kinds = {role: getattr(params, f"Message{role.title()}MessageRequest") for role in _ROLES}
    yield from _by_role(kinds, body["messages"])


_ROLES = ("system", "developer", "user", "assistant", "tool")


def _openai_responses(body: Mapping[str, Json]) -> Iterator[str]:
    types = _sdk("openai.types.responses")
    kinds: dict[str, list[Any]] = {}
    for kind in get_args(types.ResponseInputItemParam):
        for name in _literals(kind, "type"):
            kinds.setdefault(name, []).append(kind)
    for index, item in enumerate(body["input"]):
        branches = kinds.get(item.get("type", "message"), [])
        found = [list(_errors(kind, item, f"/input/{index}")) for kind in branches]
        if not found:
            yield f"/input/{index}: type {item.get('type')!r} is unknown"
        elif all(found):
            yield from min(found, key=len)


def _literals(kind: Any, key: str) -> tuple[str, ...]:
    schema = _validator(kind).schema
    field = schema.get("properties", {}).get(key, {})
    if "const" in field:
        return (field["const"],)
    return tuple(field.get("enum", ()))


# --- Anthropic --------------------------------------------------------------------------------------------------------


def _anthropic(body: Mapping[str, Json]) -> Iterator[str]:
    types = _sdk("anthropic.types")
    # Not `MessageContentParam`: it also admits the response models, which allow any key.
    kinds = {name: kind for kind in get_args(types.ContentBlockParam) for name in _literals(kind, "type")}
    system = body.get("system")
    if system is not None and not isinstance(system, str):
        for index, block in enumerate(system):
            yield from _errors(types.TextBlockParam, block, f"/system/{index}")
    for index, message in enumerate(body["messages"]):
        path = f"/messages/{index}"
        if set(message) != {"role", "content"}:
            yield f"{path}: keys {sorted(message)}"
        if message.get("role") not in ("user", "assistant", "system"):
            yield f"{path}: role {message.get('role')!r} is unknown"
        content = message.get("content")
        if isinstance(content, str):
            continue
        for number, block in enumerate(content):
            kind = kinds.get(block.get("type"))
            if kind is None:
                yield f"{path}/content/{number}: type {block.get('type')!r} is unknown"
            else:
                yield from _errors(kind, block, f"{path}/content/{number}")


# --- Gemini -----------------------------------------------------------------------------------------------------------


def _gemini(body: Mapping[str, Json]) -> Iterator[str]:
    types = _sdk("google.genai.types")
    contents = list(body["contents"])
    if "systemInstruction" in body:
        contents.append(body["systemInstruction"])
    for index, content in enumerate(contents):
        try:
            # The JSON entry point: bytes are base64 there. `ensure_ascii` since pydantic takes no lone surrogate.
            types.Content.model_validate_json(json.dumps(content))
        except ValueError as error:
            yield f"/contents/{index}: {str(error)[:400]}"


# --- Bedrock ----------------------------------------------------------------------------------------------------------


@functools.lru_cache(maxsize=1)
def _converse() -> tuple[Any, Any]:
    loaders = _sdk("botocore.loaders")
    model = _sdk("botocore.model")
    validate = _sdk("botocore.validate")
    description = loaders.create_loader().load_service_model("bedrock-runtime", "service-2")
    shape = model.ServiceModel(description).operation_model("Converse").input_shape
    return shape, validate.ParamValidator()


def _bedrock(body: Mapping[str, Json]) -> Iterator[str]:
    shape, validator = _converse()
    params = {"modelId": "m", **{key: _blobs(value) for key, value in body.items()}}
    report = validator.validate(params, shape)
    if report.has_errors():
        yield report.generate_report()[:600]
        return
    yield from _walk(shape, params, "")


def _blobs(value: Json) -> Json:
    """Turn base64 text under `bytes` and `redactedContent` into bytes, as a client would."""
    if isinstance(value, dict):
        return {
            key: base64.b64decode(part) if key in ("bytes", "redactedContent") and base64_text(part) else _blobs(part)
            for key, part in value.items()
        }
    return [_blobs(part) for part in value] if isinstance(value, list) else value


def _walk(shape: Any, value: Json, path: str) -> Iterator[str]:
    """Check patterns, lengths and enums of the service model, and that a union holds one member."""
    import re

    if getattr(shape, "is_document_type", False):
        return
    if shape.type_name == "structure":
        if getattr(shape, "is_tagged_union", False) and len(value) != 1:
            yield f"{path}: a union of {sorted(value)}"
        for key, part in value.items():
            if key in shape.members:
                yield from _walk(shape.members[key], part, f"{path}/{key}")
    elif shape.type_name == "list":
        for index, part in enumerate(value):
            yield from _walk(shape.member, part, f"{path}/{index}")
    elif shape.type_name == "string":
        pattern = shape.metadata.get("pattern")
        if pattern is not None and re.fullmatch(pattern, value) is None:
            yield f"{path}: does not match {pattern}"
        if shape.enum and value not in shape.enum:
            yield f"{path}: {value!r} is none of {shape.enum}"
        if len(value) > shape.metadata.get("max", len(value)) or len(value) < shape.metadata.get("min", 0):
            yield f"{path}: length {len(value)}"


# --- Mistral ----------------------------------------------------------------------------------------------------------


def _mistral(body: Mapping[str, Json]) -> Iterator[str]:
    models = _sdk("mistralai.client.models")
    common = _sdk("mistral_common.protocol.instruct.request")
    validator = _sdk("mistral_common.protocol.instruct.validator")
    try:
        models.ChatCompletionRequest.model_validate_json(json.dumps({"model": "m", **body}))
    except ValueError as error:
        yield str(error)[:400]
        return
    # Not V3, the oldest tokenizer: it refuses text beside calls, which no hosted model still does.
    # No model whose tokenizer is V5 thinks; its validator knows no thinking.
    thinks = any(part.get("type") == "thinking" for message in body["messages"] for part in _parts(message))
    for name in ("V11", "V13") if thinks else ("V5", "V11", "V13"):
        judge = getattr(validator, f"MistralRequestValidator{name}")(validator.ValidationMode.serving)
        try:
            request = common.ChatCompletionRequest.model_validate_json(json.dumps({"model": "m", **_common(body)}))
            judge.validate_request(request)
        except Exception as error:
            yield f"{name}: {str(error)[:300]}"


def _common(body: Mapping[str, Json]) -> dict[str, Json]:
    """Write what mistral-common takes in another form than the API: an image address as an object, thinking as text."""
    out = json.loads(json.dumps(body))
    for message in out["messages"]:
        for part in _parts(message):
            if part.get("type") == "image_url" and isinstance(part["image_url"], str):
                part["image_url"] = {"url": part["image_url"]}
            if part.get("type") == "thinking":
                part["thinking"] = "".join(chunk["text"] for chunk in part["thinking"])
    return dict(out)


def _parts(message: Mapping[str, Json]) -> list[dict[str, Json]]:
    content = message.get("content")
    return content if isinstance(content, list) else []


# --- Ollama, Cohere, OpenRouter ---------------------------------------------------------------------------------------


def _ollama(body: Mapping[str, Json]) -> Iterator[str]:
    sdk = _sdk("ollama")
    for index, message in enumerate(body["messages"]):
        # The SDK wraps an image string into a model of its own; what it holds is checked below.
        bare = {key: value for key, value in message.items() if key != "images"}
        yield from _errors(sdk.Message, bare, f"/messages/{index}")
        for image in message.get("images") or ():
            if not base64_text(image):
                yield f"/messages/{index}: an image is no bare base64"


def _cohere(body: Mapping[str, Json]) -> Iterator[str]:
    types = _sdk("cohere.types")
    for index, message in enumerate(body["messages"]):
        name = f"{str(message.get('role')).title()}ChatMessageV2"
        kind = getattr(types, name, None)
        if kind is None:
            yield f"/messages/{index}: role {message.get('role')!r} is unknown"
            continue
        unknown = set(message) - set(kind.model_fields) - {"role"}
        if unknown:
            yield f"/messages/{index}: unknown keys {sorted(unknown)}"
        try:
            kind.model_validate_json(json.dumps({key: value for key, value in message.items() if key != "role"}))
        except ValueError as error:
            yield f"/messages/{index}: {str(error)[:300]}"


def _openrouter(body: Mapping[str, Json]) -> Iterator[str]:
    components = _sdk("openrouter.components")
    for index, message in enumerate(body["messages"]):
        kind = getattr(components, f"Chat{str(message.get('role')).title()}Message", None)
        if kind is None:
            yield f"/messages/{index}: role {message.get('role')!r} is unknown"
            continue
        names = {field.alias or name for name, field in kind.model_fields.items()} | set(kind.model_fields)
        if set(message) - names:
            yield f"/messages/{index}: unknown keys {sorted(set(message) - names)}"
        try:
            kind.model_validate_json(json.dumps(message))
        except ValueError as error:
            yield f"/messages/{index}: {str(error)[:300]}"


_JUDGES: dict[str, Callable[[Mapping[str, Json]], Iterator[str]]] = {
    "openai-chat": _openai_chat,
    "azure-openai": _openai_chat,
    "openai-responses": _openai_responses,
    "anthropic-messages": _anthropic,
    "gemini": _gemini,
    "bedrock-converse": _bedrock,
    "mistral": _mistral,
    "ollama": _ollama,
    "cohere": _cohere,
    "groq": _groq,
    "cerebras": _cerebras,
    "openrouter": _openrouter,
}
