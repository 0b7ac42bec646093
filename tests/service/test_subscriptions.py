"""Who hears of which changes."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from sidecar.service.subscriptions import Notification, Subscriptions
from sidecar.store.base import ChangeEvent, StoredEdit


class Sink:
    """Keeps what it is told; says that it is congested when asked to."""

    def __init__(self) -> None:
        self.congested = False
        self.got: list[Notification] = []

    def notify(self, notification: Notification) -> None:
        assert not self.congested
        self.got.append(notification)


def event(version: int, history: str = "h", **more: object) -> ChangeEvent:
    edit = StoredEdit(start=version - 1, delete_count=0, bodies=(b"{}",))
    facts = {"kind": "append", "at": 1, "local": True, "edits": (edit,), **more}
    return ChangeEvent(history=history, version=version, previous_version=version - 1, len=version, **facts)


def test_changes_between_subscribing_and_its_answer_are_not_lost() -> None:
    """What the answer's version covers is not told again, what came after it is."""
    sink = Sink()
    subscriptions = Subscriptions(sink)
    name = subscriptions.add("h", "", with_entries=True)
    for version in (1, 2, 3):
        subscriptions.take(event(version))
    assert sink.got == []
    subscriptions.start(name, 2)
    subscriptions.take(event(4))
    assert [item.event.version for item in sink.got] == [3, 4]


def test_one_change_is_one_notification_for_all_subscriptions() -> None:
    """By name, by prefix, and none that was ended."""
    sink = Sink()
    subscriptions = Subscriptions(sink)
    names = [
        subscriptions.add("p/h", "", with_entries=True),
        subscriptions.add(None, "p/", with_entries=True),
        subscriptions.add(None, "q", with_entries=True),
        subscriptions.add(None, "", with_entries=False),
        subscriptions.add("p/h", "", with_entries=True),
    ]
    for name in names:
        subscriptions.start(name, 0)
    assert subscriptions.remove(names[4]) and not subscriptions.remove(names[4])
    subscriptions.take(event(1, "p/h"))
    assert [(item.subscription_ids, item.with_entries) for item in sink.got] == [
        ((names[0], names[1]), True),
        ((names[3],), False),
    ]


@settings(max_examples=100)
@given(st.lists(st.sampled_from(["change a", "change b", "slow", "fast"]), max_size=40))
def test_a_slow_receiver_hears_every_version_by_an_edit_or_a_resync(steps: list[str]) -> None:
    """Per history the told ranges follow each other without a gap, and nothing piles up while it is slow."""
    sink = Sink()
    subscriptions = Subscriptions(sink)
    subscriptions.start(subscriptions.add(None, "", with_entries=True), -1)
    versions = {"a": 0, "b": 0}
    for step in steps:
        if step == "slow":
            sink.congested = True
        elif step == "fast":
            sink.congested = False
            subscriptions.catch_up()
        else:
            history = step[-1]
            versions[history] += 1
            subscriptions.take(event(versions[history], history))
        assert len(subscriptions._missed) <= 2
    sink.congested = False
    subscriptions.catch_up()
    for history, version in versions.items():
        told = [item.event for item in sink.got if item.event.history == history]
        assert [item.previous_version for item in told] == [0, *[item.version for item in told]][: len(told)]
        assert (told[-1].version if told else 0) == version
        assert all(item.edits is None for item in told if item.version - item.previous_version > 1)


def test_versions_that_were_pruned_before_they_were_told_become_one_resync() -> None:
    """From the last version that each subscription was told; what is known is not told again."""
    sink = Sink()
    subscriptions = Subscriptions(sink)
    names = [subscriptions.add("h", "", with_entries=True), subscriptions.add(None, "", with_entries=True)]
    subscriptions.start(names[0], 2)
    subscriptions.start(names[1], -1)
    for version in (1, 2, 3, 7, 7, 8):
        subscriptions.take(event(version))
    assert [
        (item.subscription_ids, item.event.previous_version, item.event.version, item.event.edits is None)
        for item in sink.got
    ] == [
        ((names[1],), 0, 1, False),
        ((names[1],), 1, 2, False),
        (tuple(names), 2, 3, False),
        (tuple(names), 3, 7, True),
        (tuple(names), 7, 8, False),
    ]
