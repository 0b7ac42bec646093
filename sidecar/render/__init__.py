"""Entries to text that people read: Markdown and HTML with a line map, outlines, redaction.

Rules: pure and deterministic (no clock, no locale); imports `core` only. Transcript text is untrusted: nothing in it
can start or end a structure of the document, load anything, run, or hide (see `escape.py`).
"""

from sidecar.render.document import Part, Rendered, Span
from sidecar.render.html import render_html
from sidecar.render.markdown import render_markdown
from sidecar.render.outline import Row, outline
from sidecar.render.redact import redact_entry, redact_secrets

__all__ = [
    "Part",
    "Rendered",
    "Row",
    "Span",
    "outline",
    "redact_entry",
    "redact_secrets",
    "render_html",
    "render_markdown",
]
