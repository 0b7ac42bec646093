"""Cutting a byte stream into messages."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sidecar.server.frames import FrameReader, Oversized, frame


@given(
    st.lists(st.binary(max_size=300), max_size=8),
    st.lists(st.integers(1, 40), min_size=1, max_size=20),
    st.sampled_from([b"Content-Length: %d\r\n\r\n", b"content-length:%d\n\n", b"X: y\r\nCONTENT-LENGTH : %d\r\n\r\n"]),
)
def test_the_chunks_a_stream_comes_in_do_not_matter(bodies: list[bytes], sizes: list[int], header: bytes) -> None:
    """Any cutting of any frames, with any legal header, gives the same bodies."""
    stream = b"".join(header % len(body) + body for body in bodies)
    reader, got, position, turn = FrameReader(), [], 0, 0
    while position < len(stream):
        size = sizes[turn % len(sizes)]
        got += reader.feed(stream[position : position + size])
        position, turn = position + size, turn + 1
    assert got == bodies


@given(st.integers(0, 60), st.lists(st.integers(1, 30), min_size=1, max_size=9))
def test_an_oversized_body_is_skipped_and_reported(excess: int, sizes: list[int]) -> None:
    """What follows a too large message is read as if nothing had been."""
    stream = frame(b"a") + frame(b"b" * (11 + excess)) + frame(b"c" * 10)
    reader, got, position, turn = FrameReader(max_body=10), [], 0, 0
    while position < len(stream):
        size = sizes[turn % len(sizes)]
        got += reader.feed(stream[position : position + size])
        position, turn = position + size, turn + 1
    assert got == [b"a", Oversized(11 + excess), b"c" * 10]


def test_a_huge_length_takes_no_memory() -> None:
    """The limit is judged by the header, before a byte of the body is kept."""
    reader = FrameReader()
    assert reader.feed(b"Content-Length: 9999999999\r\n\r\n" + b"x" * 100) == [Oversized(9_999_999_999)]
    reader.feed(b"x" * 1_000_000)
    assert len(reader._buffer) == 0


@pytest.mark.parametrize(
    "stream",
    [
        b"Content-Type: x\r\n\r\n{}",
        b"Content-Length: five\r\n\r\nhello",
        b"Content-Length: -5\r\n\r\nhello",
        b"Content-Length: \r\n\r\n",
        b"Content-Length: 99999999999\r\n\r\n",
        b"X: " + b"y" * 9000,
        b"Content-Length: 5\r\n" + b"X: y\r\n" * 2000,
        b'{"jsonrpc":"2.0"}\n\n',
    ],
)
def test_a_stream_without_lengths_is_lost(stream: bytes) -> None:
    """Guessing where the next message starts would execute parts of a conversation."""
    reader = FrameReader()
    assert reader.feed(frame(b"{}") + stream) == [b"{}"]
    assert reader.lost
    assert reader.feed(frame(b"[]")) == []


def test_blank_lines_between_frames_are_harmless() -> None:
    """People type them when they try the server by hand."""
    assert FrameReader().feed(b"\r\n\n" + frame(b"{}") + b"\r\n" + frame(b"[]")) == [b"{}", b"[]"]
