"""Layout algebra against plain lists."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from sidecar.core.layouts import (
    Layout,
    Range,
    at,
    clip,
    common_prefix,
    common_suffix,
    cut,
    difference,
    index_of,
    join,
    length,
    open_end,
    pack,
    unpack,
)


def flat(layout: Layout) -> list[tuple[int, int]]:
    return [(part.log, seq) for part in layout for seq in range(part.lo, part.hi or 0)]


ranges = st.builds(
    lambda log, lo, size: Range(log, lo, lo + size), st.integers(1, 3), st.integers(1, 9), st.integers(1, 6)
)
layouts = st.lists(ranges, max_size=6).map(lambda parts: join(parts))


def same_prefix(a: list[tuple[int, int]], b: list[tuple[int, int]]) -> int:
    count = 0
    for x, y in zip(a, b, strict=False):
        if x != y:
            break
        count += 1
    return count


@given(layouts, st.integers(0, 40), st.integers(0, 40))
def test_cut_is_a_list_slice(layout: Layout, start: int, stop: int) -> None:
    """`cut` shows what slicing the plain list shows."""
    assert flat(cut(layout, start, stop)) == flat(layout)[start:stop]
    assert length(layout) == len(flat(layout))


@given(layouts, layouts)
def test_one_edit_turns_old_into_new(old: Layout, new: Layout) -> None:
    """Applying the difference to the old list gives the new list; equal lists need none."""
    a, b = flat(old), flat(new)
    edit = difference(old, new)
    if edit is None:
        assert a == b
    else:
        start, delete_count, insert = edit
        assert a[:start] + flat(insert) + a[start + delete_count :] == b
    assert common_prefix(old, new) == same_prefix(a, b)
    assert common_suffix(old, new) == same_prefix(a[::-1], b[::-1])


@given(layouts, st.integers(1, 3), st.integers(1, 20))
def test_index_of_finds_the_first_place(layout: Layout, log: int, seq: int) -> None:
    """`index_of` and `at` are inverse where the entry is shown."""
    index = index_of(layout, log, seq)
    if index is None:
        assert (log, seq) not in flat(layout)
    else:
        assert index == flat(layout).index((log, seq)) and at(layout, index) == (log, seq)


@given(layouts)
def test_packing_and_the_open_end(layout: Layout) -> None:
    """A layout survives storing; its open end grows with the own log."""
    assert unpack(pack(layout)) == layout
    grown = open_end(layout, 7, 4)
    assert flat(clip(grown, length(layout) + 3)) == flat(layout) + [(7, 5), (7, 6), (7, 7)]
    own = open_end(join(layout, [Range(7, 2, 5)]), 7, 4)
    assert flat(clip(own, length(layout) + 4)) == flat(layout) + [(7, s) for s in (2, 3, 4, 5)]
