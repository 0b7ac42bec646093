"""Entries to text that people read: Markdown and HTML with a line map, outlines.

Rules: pure and deterministic (no clock, no locale); imports `core` only. Transcript text is untrusted: nothing in it
can start or end a structure of the document, load anything, run, or hide (see `escape.py`).
"""

from sidecar.render.document import Part, Rendered, Span
from sidecar.render.html import render_html
from sidecar.render.markdown import render_markdown
from sidecar.render.outline import Row, outline

__all__ = [
    "Part",
    "Rendered",
    "Row",
    "Span",
    "outline",
    "render_html",
    "render_markdown",
]
