"""What is measured of an entry: the integers of the source documents, class counts, media, and the packed form."""

from __future__ import annotations

import base64
import struct
import zlib
from collections import Counter

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from sidecar.core.features import FEATURES, count_features
from sidecar.core.measures import (
    SAMPLE_OVER,
    Measure,
    measure,
    total,
)
from sidecar.core.media_headers import Medium, image_size
from sidecar.core.messages import (
    Assistant,
    Audio,
    Block,
    Entry,
    File,
    Image,
    JsonBlock,
    Opaque,
    Reasoning,
    Text,
    ToolCall,
    User,
    VendorBlock,
)

TEXT = st.text(max_size=300)


def png(width: int, height: int) -> bytes:
    """Write a real, minimal PNG."""

    def chunk(kind: bytes, body: bytes) -> bytes:
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))

    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    rows = zlib.compress(b"".join(b"\0" + b"\0" * width for _ in range(height)))
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", rows) + chunk(b"IEND", b"")


def encoded(data: bytes) -> str:
    return base64.b64encode(data).decode("ascii")


def call(name: str, arguments: str) -> Entry:
    return Entry(message=Assistant(tool_calls=(ToolCall(id="c1", name=name, arguments=arguments),)))


def test_bytes4_of_the_source() -> None:
    """Seed 001: floor of UTF-8 bytes by four, per block, arguments as compact JSON, no identifiers."""
    cases = [
        (Entry.user("a" * 40), 10),
        (Entry.user("日本語"), 2),
        (Entry.user([Text("abc"), Text("abc")]), 0),
        (call("read", "{}"), 1),
        (call("read", '{ "path" : "a" }'), (4 + len('{"path":"a"}')) // 4),
        (call("read", '{"path": "unfinished'), (4 + len('{"path": "unfinished')) // 4),
        (Entry.user([Image(mime_type="image/png", data="AAAA" * 5000)]), 2000),
        (Entry(message=Assistant(reasoning=(Reasoning(text="step", signature="sig1"),))), 2),
        (Entry.tool([Image(mime_type="image/png", data="A" * 400)], "c1"), 100),
        (Entry.tool([JsonBlock({"value": 1})], "c1"), 2),
        (Entry.user([VendorBlock("gemini", {"search": "x" * 400})]), 0),
        (Entry.system("seed one"), 2),
    ]
    assert [measure(entry).bytes4 for entry, _ in cases] == [expected for _, expected in cases]


def test_bytes4_min1_of_the_source() -> None:
    """Seed 000: one floor over text, reasoning, call id and calls; at least one; content with media counts nothing."""
    cases = [
        (Entry.user(""), 1),
        (Entry.user("abcdefgh"), 2),
        (Entry.user("日本語"), 2),
        (Entry.assistant("", tool_calls=[ToolCall(id="c", name="bash", arguments='{"cmd":"ls"}')]), 4),
        (Entry.tool("ok", "call_1"), 2),
        (Entry.user([Text("x" * 400), Image(mime_type="image/png", data="AAAA")]), 1),
        (Entry.assistant("abcd", reasoning="abcd"), 2),
    ]
    assert [measure(entry).bytes4_min1 for entry, _ in cases] == [expected for _, expected in cases]


def test_chars4_plus4_of_the_source() -> None:
    """Seed 003: characters by four rounded up, four more per message, arguments and results as JSON values."""
    cases = [
        (Entry.user("日本語"), 5),
        (Entry.user(""), 4),
        (Entry.user("hello world"), 7),
        (call("memory.get", '{"key":"k"}'), 10),
        (Entry.tool([JsonBlock({"value": 1})], "c1"), 7),
        (Entry.tool([JsonBlock(None)], "c1"), 5),
        (Entry.tool([JsonBlock("abcde")], "c1"), 6),
        (Entry.tool("abcde", "c1"), 6),
    ]
    assert [measure(entry).chars4_plus4 for entry, _ in cases] == [expected for _, expected in cases]


def test_cjk_of_the_source() -> None:
    """Seed 002: an ideograph is a token, everything else is four characters to one, rounded up per string."""
    cases = [
        ("hello", 2),
        ("abcd", 1),
        ("morning", 2),
        ("日本語", 3),
        ("日本語abc", 4),
        ("かな", 1),
        ("\U00020000", 1),
        ("한국어", 1),
    ]
    assert [measure(Entry.user(text)).cjk for text, _ in cases] == [expected for _, expected in cases]
    both = Entry(
        message=Assistant(
            content=(Text("abcde"),),
            reasoning=(Reasoning(text="a"),),
            tool_calls=(ToolCall(id="i", name="long_name_not_counted", arguments="{}"),),
        )
    )
    assert measure(both).cjk == 2 + 1 + 1


@given(st.lists(TEXT, max_size=4))
def test_blocks_are_counted_one_by_one(texts: list[str]) -> None:
    """No sequence is found across the border of two blocks, and every byte is counted once."""
    found = measure(Entry.user([Text(text) for text in texts]))
    alone = Counter[str]()
    for text in texts:
        alone.update(dict(zip(FEATURES, count_features(text.encode("utf-8", "surrogatepass")), strict=True)))
    assert dict(zip(FEATURES, found.text, strict=True)) == dict(alone) if any(texts) else found.text == ()
    assert found.text_bytes == sum(len(text.encode("utf-8", "surrogatepass")) for text in texts)


IDEOGRAPH_RANGES = ((0x3400, 0x4DBF), (0x4E00, 0x9FFF), (0xF900, 0xFAFF), (0x20000, 0x2FA1F))
BORDERS = [chr(place) for each in IDEOGRAPH_RANGES for edge in each for place in (edge - 1, edge, edge + 1)]


@given(st.one_of(TEXT, st.text(st.sampled_from(["a", " ", "の", "，", "🙂", "\ud840", *BORDERS]))))
@example("".join(BORDERS))
def test_an_ideograph_is_what_the_source_says(text: str) -> None:
    """`cjk` is the ideographs by the ranges of seed 002 and the rest by four, whatever the script."""
    text *= 4  # so that one character more or less shows
    ideographs = sum(any(first <= ord(each) <= last for first, last in IDEOGRAPH_RANGES) for each in text)
    assert measure(Entry.user(text)).cjk == ideographs + (len(text) - ideographs + 3) // 4


@given(TEXT)
def test_one_text_is_measured_like_any_content(text: str) -> None:
    """The short way for entries that are one text gives what the general way gives: an empty block changes nothing."""
    parts = [Text(text), Text("")]
    pairs = [
        (Entry.user(text), Entry.user(parts)),
        (Entry.tool(text, "call_17"), Entry.tool(parts, "call_17")),
        (Entry.assistant(text), Entry(message=Assistant(content=tuple(parts)))),
        (Entry.system(text), Entry.user(parts)),
        (Entry.summary(text, 3), Entry.user(parts)),
        (Entry.note(text), Entry.user(parts)),
    ]
    assert [measure(short) for short, _ in pairs] == [measure(long) for _, long in pairs]


MEDIA = st.builds(
    Medium,
    kind=st.sampled_from(("image", "file", "audio")),
    mime_type=st.sampled_from(("", "image/png", "application/pdf")),
    width=st.integers(0, 2**30),
    height=st.integers(0, 5000),
    pages=st.integers(0, 900),
    milliseconds=st.integers(0, 10**9),
    size=st.integers(0, 2**40),
    detail=st.sampled_from(("", "low", "high")),
)
COUNTS = st.one_of(
    st.just(()),
    st.dictionaries(st.integers(0, len(FEATURES) - 1), st.integers(1, 300_000), min_size=1, max_size=6).map(
        lambda found: tuple(found.get(place, 0) for place in range(len(FEATURES)))
    ),
)
NUMBER = st.integers(0, 2**53)
MEASURES = st.builds(
    Measure,
    messages=NUMBER,
    calls=NUMBER,
    bytes4=NUMBER,
    bytes4_min1=NUMBER,
    chars4_plus4=NUMBER,
    cjk=NUMBER,
    text_bytes=NUMBER,
    sealed_bytes=NUMBER,
    text=COUNTS,
    thought=COUNTS,
    media=st.lists(MEDIA, max_size=3).map(tuple),
)


@given(MEASURES)
def test_packing_loses_nothing(given_measure: Measure) -> None:
    """`unpack` is the inverse of `pack`."""
    assert Measure.unpack(given_measure.pack()) == given_measure


@given(MEASURES, st.data())
def test_damaged_bytes_are_refused(given_measure: Measure, data: st.DataObject) -> None:
    """A cut-off or foreign measure raises ValueError, nothing else."""
    packed = given_measure.pack()
    cut = data.draw(st.integers(0, len(packed) - 1))
    with pytest.raises(ValueError, match="measure"):
        Measure.unpack(packed[:cut])
    with pytest.raises(ValueError, match="release"):
        Measure.unpack(b"\xfe" + packed[1:])


@given(st.lists(MEASURES, max_size=4))
def test_measures_add_up(measures: list[Measure]) -> None:
    """The sum of measures is the sum of each of their parts, in any grouping."""
    summed = total(measures)
    one_by_one = Measure()
    for each in measures:
        one_by_one = one_by_one + each
    assert summed == one_by_one
    assert summed.bytes4 == sum(each.bytes4 for each in measures)
    assert summed.media == tuple(medium for each in measures for medium in each.media)
    for place in range(len(FEATURES)):
        parts = [each.text[place] for each in measures if each.text]
        assert (summed.text[place] if summed.text else 0) == sum(parts)


def test_a_kilobyte_of_text_packs_small() -> None:
    """A measure of 1 KB of prose or code takes at most 80 bytes."""
    prose = "The store answers only after the change is durable; a refused operation changes nothing. " * 12
    code = (
        'def read(path: str, *, limit: int = 10) -> list[str]:\n    return open(path).read().split("\\n")[:limit]\n'
        * 10
    )
    for text in (prose[:1024], code[:1024], "日本語の文章と漢字、" * 34):
        assert len(measure(Entry.user(text)).pack()) <= 80


def test_long_text_is_sampled_but_the_source_integers_are_exact() -> None:
    """Over 64 kB the class counts come from windows and stay within a few per cent; the integers are exact."""
    line = "x = compute(value_{0}, 'text')  # note {0}\n"
    text = "".join(line.format(number) for number in range(20_000))
    assert len(text) > 4 * SAMPLE_OVER
    found, exact = measure(Entry.user(text)), count_features(text.encode())
    assert found.bytes4 == len(text) // 4
    assert found.text_bytes == len(text)
    for place, name in enumerate(FEATURES):
        if exact[place] > 1000:
            assert found.text[place] == pytest.approx(exact[place], rel=0.04), name


def test_reasoning_is_counted_apart() -> None:
    """Plain reasoning is in `thought`, opaque reasoning in `sealed_bytes`, signatures in neither."""
    reasoning = (Reasoning(text="because", signature="s" * 4000), Reasoning(data="A" * 4000))
    entry = Entry(message=Assistant(content=(Text("so"),), reasoning=reasoning))
    found = measure(entry)
    assert found.thought == count_features(b"because")
    assert found.text == count_features(b"so")
    assert found.sealed_bytes == 4000 * 3 // 4 - 650


def test_encoded_pictures_in_structured_values_are_pictures() -> None:
    """A PNG inside a JSON result or an unknown block is measured as a picture, never as text."""
    data = encoded(png(300, 200) + b"\0" * 3000)
    picture = {"type": "image", "source": {"data": data}}
    blocks: list[Block] = [
        JsonBlock([picture]),
        VendorBlock("anthropic-messages", picture),
        Opaque("thing", picture),
        JsonBlock(f"data:image/png;base64,{data}"),
    ]
    for block in blocks:
        found = measure(Entry.tool([block], "c1"))
        assert [(medium.kind, medium.width, medium.height) for medium in found.media] == [("image", 300, 200)]
        assert found.text_bytes < 100
    words = "A" * 2000
    assert measure(Entry.tool([JsonBlock(words)], "c1")).media == ()


JPEG = b"\xff\xd8\xff\xe0\x00\x10JFIF\0" + b"\0" * 9 + b"\xff\xc4\x00\x04\0\0" + b"\xff\xc0\x00\x11\x08\x01\x2c\x01\x90"


@pytest.mark.parametrize(
    ("head", "size"),
    [
        (png(640, 480), (640, 480)),
        (JPEG + b"\x03" + b"\0" * 9, (400, 300)),
        (b"GIF89a" + struct.pack("<HH", 32, 16), (32, 16)),
        (b"RIFF\0\0\0\0WEBPVP8X\x0a\0\0\0\0\0\0\0" + b"\x7f\x07\x00" + b"\x37\x04\x00", (1920, 1080)),
        (b"RIFF\0\0\0\0WEBPVP8L\0\0\0\0\x2f" + (99 | 49 << 14).to_bytes(4, "little"), (100, 50)),
        (b"RIFF\0\0\0\0WEBPVP8 \0\0\0\0" + b"\0" * 6 + struct.pack("<HH", 800, 600), (800, 600)),
        (b"\xff\xd8\xff\xe0\xff\xff", (0, 0)),
        (b"not a picture", (0, 0)),
        (b"", (0, 0)),
    ],
)
def test_sizes_come_from_headers(head: bytes, size: tuple[int, int]) -> None:
    """PNG, JPEG, GIF and the three kinds of WebP say their size; anything else has none."""
    assert image_size(head) == size


@given(st.binary(max_size=200))
def test_no_header_breaks_the_reader(data: bytes) -> None:
    """Bytes that are not what they claim give a size or none, never an error."""
    for head in (data, b"\xff\xd8" + data, b"RIFF0000WEBPVP8X" + data, b"\x89PNG\r\n\x1a\n" + data):
        width, height = image_size(head)
        assert width >= 0
        assert height >= 0


def test_media_are_described() -> None:
    """Size, pages and duration come from the data, and what the client says wins."""
    wave = b"RIFF\0\0\0\0WAVEfmt \x10\0\0\0\x01\0\x01\0" + struct.pack("<II", 8000, 16000) + b"\0" * (16000 * 3 + 12)
    document = b"%PDF-1.4\n" + b"<< /Type /Page >>\n<< /Type/Pages /Count 2 >>\n<</Type/Page/A 1>>"
    message = User(
        (
            Image(mime_type="image/png", data=encoded(png(64, 32)), extra={"detail": "low"}),
            Image(url=f"data:image/png;base64,{encoded(png(8, 9))}"),
            Image(url="https://example.com/a.png", extra={"width": 1920, "height": 1080}),
            File(mime_type="application/pdf", data=encoded(document)),
            File(mime_type="application/pdf", blob="abc", extra={"pages": 7}),
            Audio(mime_type="audio/wav", data=encoded(wave)),
        )
    )
    found = measure(Entry(message=message)).media
    assert [(each.kind, each.width, each.height, each.pages, each.milliseconds, each.detail) for each in found] == [
        ("image", 64, 32, 0, 0, "low"),
        ("image", 8, 9, 0, 0, ""),
        ("image", 1920, 1080, 0, 0, ""),
        ("file", 0, 0, 2, 0, ""),
        ("file", 0, 0, 7, 0, ""),
        ("audio", 0, 0, 0, 3000, ""),
    ]


def test_text_documents_are_text() -> None:
    """A plain-text file counts as its text."""
    block = File(mime_type="text/markdown", data=encoded("# Überschrift".encode()))
    found = measure(Entry.user([block]))
    assert found.text == count_features("# Überschrift".encode())
    assert found.media == ()
