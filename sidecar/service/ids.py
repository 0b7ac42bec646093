"""Ids of entries: UUID version 7, so that they sort by time and need no coordination (RFC 9562 §5.7).

Rules: monotonic within a process, by a counter in the 12 bits behind the milliseconds that starts anew each
millisecond (RFC 9562 §6.2, method 1); the other 62 bits are random.
"""

from __future__ import annotations

import os
import time

_DRAWN = 512
"""Random bytes drawn at once, eight for each id."""


class EntryIds:
    """Makes ids that never repeat and never go back."""

    def __init__(self) -> None:
        self._milliseconds = 0
        self._counter = 0
        self._random = b""

    def make(self) -> str:
        """Return a new id in the usual text form."""
        now = time.time_ns() // 1_000_000
        if now > self._milliseconds:
            self._milliseconds, self._counter = now, 0
        elif self._counter == 0xFFF:
            self._milliseconds, self._counter = self._milliseconds + 1, 0  # borrowed from the next millisecond
        else:
            self._counter += 1
        if not self._random:
            self._random = os.urandom(_DRAWN)  # one system call costs as much as all else here
        random, self._random = int.from_bytes(self._random[:8]) & 0x3FFF_FFFF_FFFF_FFFF, self._random[8:]
        value = self._milliseconds << 80 | 0x7 << 76 | self._counter << 64 | 0b10 << 62 | random
        text = f"{value:032x}"
        return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"
