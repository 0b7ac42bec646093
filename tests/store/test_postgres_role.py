"""The role that `sidecar/store/README.md` gives to everybody but the owner is enough, and no more than that."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path

import psycopg
import pytest
from attrs import evolve

import sidecar.store
from sidecar.core.messages import Entry
from sidecar.store import open_store
from sidecar.store.base import Append, Mutation, Store
from tests.store.postgres_server import fresh_database

PAGE = Path(sidecar.store.__file__).with_name("README.md")
pytestmark = pytest.mark.postgres


async def append_one(store: Store) -> int:
    await store.open()
    try:
        known = (await store.list(prefix="", cursor=None, limit=9, order_by="name")).rows
        entry = evolve(Entry.user("hello"), id=f"e{len(known)}", ts=1)
        await store.apply(Mutation(history="a", operation=Append((entry,)), at=1))
        await store.search("hello", prefix="", cursor=None, limit=5)
        return (await store.read("a")).len
    finally:
        await store.close()


def test_the_documented_role_can_write_and_cannot_make_tables() -> None:
    """Open, append, read and search work; DDL does not."""
    owner = fresh_database()
    assert asyncio.run(append_one(open_store(owner))) == 1
    (sql,) = re.findall(r"<!-- role -->\n```sql\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.S)
    with psycopg.connect(owner, autocommit=True) as connection:
        connection.execute("DROP ROLE IF EXISTS sidecar_user")
        connection.execute(sql.encode())
    user = owner.replace("postgres@", "sidecar_user@")
    try:
        assert asyncio.run(append_one(open_store(user))) == 2
        with psycopg.connect(user, autocommit=True) as connection, pytest.raises(psycopg.errors.InsufficientPrivilege):
            connection.execute("CREATE TABLE more(a integer)")
    finally:
        with psycopg.connect(owner, autocommit=True) as connection:
            connection.execute("DROP OWNED BY sidecar_user")
            connection.execute("DROP ROLE sidecar_user")
