"""The list of formats, and finding the one that a text is in.

Rules: the format whose detector is surest wins; on a tie, the one that stands first here. A format is found by what is
in the text; its name is never looked at.
"""

from __future__ import annotations

from typing import Final

from sidecar.core.errors import InvalidParams, Unparsable
from sidecar.formats import (
    aider,
    anthropic_messages,
    chatgpt_export,
    claude_code,
    codecompanion,
    codex,
    copilot,
    gemini,
    gemini_cli,
    goose,
    gptel,
    langchain,
    markdown,
    openai_chat,
    opencode,
    own_jsonl,
    pydantic_ai,
    sharegpt,
    vscode_chat,
)
from sidecar.formats.base import Format
from sidecar.formats.head import Head
from sidecar.formats.source import Source

FORMATS: Final[dict[str, Format]] = {
    module.FORMAT.id: module.FORMAT
    for module in (
        own_jsonl,
        markdown,
        claude_code,
        codex,
        opencode,
        copilot,
        gemini_cli,
        openai_chat,
        sharegpt,
        chatgpt_export,
        langchain,
        pydantic_ai,
        anthropic_messages,
        gemini,
        aider,
        gptel,
        codecompanion,
        vscode_chat,
        goose,
    )
}
AUTO: Final = "auto"


def scores(source: Source) -> dict[str, int]:
    """Return how sure each format's detector is, without those that are not."""
    head = Head.of(source)
    found = {name: form.detect(head) for name, form in FORMATS.items()}
    return {name: score for name, score in found.items() if score > 0}


def format_of(name: str, source: Source) -> Format:
    """Return the named format, or for `auto` the one the text is in.

    Raises `InvalidParams` for a name that is not in the list, `Unparsable` where no format is recognized.
    """
    if name == AUTO:
        found = scores(source)
        if not found:
            raise Unparsable("", "the text is in none of the known formats")
        return FORMATS[max(found, key=lambda key: found[key])]
    if name not in FORMATS:
        raise InvalidParams.at("/format", f"must be one of {', '.join((*FORMATS, AUTO))}")
    return FORMATS[name]
