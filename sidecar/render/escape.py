"""Make transcript text harmless inside a Markdown document, and take it back.

Rules:
- What a person cannot see is made visible: C0 and C1 controls (ANSI escapes among them), bidirectional marks, line
  separators that editors disagree about, tag characters, lone surrogates. The document's lines are exactly the lines
  that an LSP client counts.
- Prose stays Markdown (emphasis, lists, links, code) but cannot leave its entry: no HTML, no heading, no setext
  underline, no link definition that reaches other entries, no image (a preview would fetch it), no link whose scheme
  is not in `_SCHEMES`. At the start of a line the escape is one more backslash, inside a line a numeric character
  reference, so that `unescape_prose` is exact.
- A code fence of the text is written again at the margin with a run longer than any inside, and always closed: a
  fence inside a list item would end where its indentation ends, and what follows would be read as Markdown.

Source of the grammar: CommonMark 0.31, sections 4.2, 4.3, 4.5, 4.7, 6.1 and 6.5. Invariant: a CommonMark parser finds
in a rendered document only the headings and HTML blocks that the renderer wrote
(`tests/render/test_markdown.py::test_nothing_breaks_out`).
"""

from __future__ import annotations

import re

_SCHEMES = ("http", "https", "mailto")

# --- what cannot be seen ----------------------------------------------------------------------------------------------

_FLAG = "\U0001f3f4[\U000e0020-\U000e007f]+"
"""A flag emoji is spelled with tag characters (UTS #51); anywhere else they carry text that nobody sees."""

_HIDDEN = re.compile(
    f"({_FLAG})|"
    "([\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\ud800-\udfff\U000e0000-\U000e007f])"
)
_LINE_END = re.compile(r"\r\n|\r|\n")


def visible(text: str) -> str:
    """Return the text with `\\n` line ends and every invisible character spelled out."""
    if text.replace("\n", "").replace("\t", "").isprintable():
        return text  # nothing hidden is printable, and this is twenty times as fast as the search for it
    return _HIDDEN.sub(_spell, _LINE_END.sub("\n", text))


def _spell(match: re.Match[str]) -> str:
    if match[1]:
        return match[1]
    code = ord(match[2])
    if code < 0x20:
        return chr(0x2400 + code)
    return "\u2421" if code == 0x7F else f"⟨U+{code:04X}⟩"


def one_line(text: str, limit: int = 120) -> str:
    """Return the first non-blank line of the text, visible, at most `limit` characters."""
    line = next((line.strip() for line in visible(text[: 50 * limit]).split("\n") if line.strip()), "")
    return line if len(line) <= limit else line[: limit - 1] + "…"


# --- Markdown pieces --------------------------------------------------------------------------------------------------

_TICKS = re.compile(r"`+")
_FENCE = re.compile(r"[ \t]*(?:(`{3,})([^`]*)|(~{3,})(.*))")
_INFO = re.compile(r"[\w+#.-]{1,40}")


def code(text: str) -> str:
    """Return a code span of the text on one line."""
    text = visible(text).replace("\n", "␊").replace("\t", " ") or " "
    run = "`" * (1 + max((len(ticks) for ticks in _TICKS.findall(text)), default=0))
    pad = " " if text.startswith("`") or text.endswith("`") or not text.strip() else ""
    return f"{run}{pad}{text}{pad}{run}"


def fence(lines: list[str], info: str = "", mark: str = "`") -> list[str]:
    """Return the lines, literal, between fences that none of them can close."""
    longest = max((len(run) for line in lines for run in re.findall(f"{mark}{{3,}}", line)), default=2)
    run = mark * (longest + 1)
    known = _INFO.match(info.strip())
    return [run + (known[0] if known else ""), *lines, run]


def literal(text: str, info: str = "") -> list[str]:
    """Return the text as one fenced block."""
    return fence(visible(text).split("\n"), info)


def prose(text: str) -> list[str]:
    """Return the lines of a Markdown text that cannot leave its entry."""
    lines = visible(text).split("\n")
    out: list[str] = []
    at = 0
    while at < len(lines):
        opening = _FENCE.fullmatch(lines[at])
        if opening is None:
            out.append(_prose_line(lines[at]))
            at += 1
            continue
        run = opening[1] or opening[3]
        closing = re.compile(rf"[ \t]*{run[0]}{{{len(run)},}}[ \t]*")
        end = next((i for i in range(at + 1, len(lines)) if closing.fullmatch(lines[i])), len(lines))
        out += fence(lines[at + 1 : end], opening[2] or opening[4] or "", run[0])
        at = end + 1
    return out


_LINE_START = re.compile(
    r"""
    ((?:[ \t>] | (?:[*+-]|\d{1,9}[.)])(?=[ \t]))*?)             # inside quotes and lists
    (\\*)
    (?= \#{1,6}(?:[ \t]|$) | (?:=+|-+)[ \t]*$ | ~{3}
      | \[ (?! [ xX]\][ \t] | [^\[\]\\]*\]\( ) )                # neither a task nor a plain link
    """,
    re.VERBOSE,
)
_INLINE = re.compile(
    r"""
      (?P<code> (?<!`)(?P<run>`+)(?!`) .*? (?<!`)(?P=run)(?!`) )
    | (?P<pair> \\(?!<|&\#?\w+;)[!-/:-@\[-`{-~] )
    | (?P<one>  \\(?=[<&]) | `+ | < | &(?=\#?\w+;) | !(?=\[) )
    | (?P<link> (?<=\])\( )
    """,
    re.VERBOSE,
)
_TOUCHED = ("`", "\\", "<", "&", "![", "](")
"""Without any of these there is nothing in a line that `_INLINE` could find."""
_DESTINATION = re.compile(r"[ \t]*([^\s)]*)")


def _prose_line(line: str) -> str:
    start = _LINE_START.match(line)
    head = ""
    if start:
        head = line[: start.end()] + "\\"
        line = line[start.end() :]
        # The character that would have started the structure is escaped now and takes no further part.
        head, line = head + line[:1], line[1:]
    return head + (_INLINE.sub(_neutral, line) if any(mark in line for mark in _TOUCHED) else line)


def _neutral(match: re.Match[str]) -> str:
    text = match[0]
    if match["code"] or match["pair"]:
        return text
    if match["link"]:
        return "(" if _is_harmless(match.string, match.end()) else "&#40;"
    return "".join("&lt;" if char == "<" else "&amp;" if char == "&" else f"&#{ord(char)};" for char in text)


def _is_harmless(line: str, at: int) -> bool:
    target = _DESTINATION.match(line, at)
    if target is None or target.end() == len(line) or "&" in target[1]:
        # The destination may go on in the next line, or spell its scheme with character references.
        return False
    scheme, colon, _ = re.split(r"[/?#]", target[1], maxsplit=1)[0].partition(":")
    return not colon or scheme.lower() in _SCHEMES


# --- and back ---------------------------------------------------------------------------------------------------------

_ESCAPED_START = re.compile(
    r"^((?:[ \t>]|(?:[*+-]|\d{1,9}[.)])(?=[ \t]))*?)\\(\\*)(?=\#{1,6}(?:[ \t]|$)|(?:=+|-+)[ \t]*$|~{3}|\[)"
)
_REFERENCE = re.compile(r"(?<!`)(`+)(?!`).*?(?<!`)\1(?!`)|&(?:lt|amp|#\d{2,3});")
_CHARACTERS = {"&lt;": "<", "&amp;": "&"}


def unescape_prose(lines: list[str]) -> str:
    """Return the text that `prose` was given, up to what `visible` changed and the spelling of its fences."""
    out: list[str] = []
    closing: re.Pattern[str] | None = None
    for line in lines:
        if closing is not None:
            closing = None if closing.fullmatch(line) else closing
            out.append(line)
        elif opening := _FENCE.fullmatch(line):
            run = opening[1] or opening[3]
            closing = re.compile(rf"[ \t]*{run[0]}{{{len(run)},}}[ \t]*")
            out.append(line)
        else:
            out.append(_REFERENCE.sub(_character, _ESCAPED_START.sub(r"\1\2", line, count=1)))
    return "\n".join(out)


def _character(match: re.Match[str]) -> str:
    text = match[0]
    if text.startswith("`"):
        return text
    return _CHARACTERS.get(text) or chr(int(text[2:-1]))
