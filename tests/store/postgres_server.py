"""A private PostgreSQL server for the tests: own directory, own socket, a user that is not root.

`SIDECAR_TEST_DSN` names a server that is there already. Without it, the Debian package's binaries are used. With
CI=true a missing server is a failure; a person sees a skip with the install line.
"""

from __future__ import annotations

import atexit
import os
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import pytest

INSTALL = "apt-get install postgresql"


@cache
def server_dsn() -> str:
    """Return a DSN of a running server, starting one on first use."""
    given = os.environ.get("SIDECAR_TEST_DSN")
    if given:
        return given
    binaries = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda p: float(p.parent.name))
    if not binaries:
        if os.environ.get("CI") == "true":
            pytest.fail(f"PostgreSQL is missing: {INSTALL}")
        pytest.skip(f"PostgreSQL is missing: {INSTALL}")
    return _start(binaries[-1])


def fresh_database() -> str:
    """Return the DSN of a new empty database."""
    import secrets

    import psycopg

    name = f"test_{secrets.token_hex(6)}"
    with psycopg.connect(server_dsn(), autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}".encode())
    head, _, rest = server_dsn().partition("/postgres?")
    return f"{head}/{name}?{rest}"


def _start(binaries: Path) -> str:
    folder = Path(tempfile.mkdtemp(prefix="sidecar-pg-"))
    as_user: Sequence[str] = ()
    if os.geteuid() == 0:
        as_user = ("setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups", "--")
        shutil.chown(folder, "postgres", "postgres")
    folder.chmod(0o700)
    data = folder / "data"
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "stdin": subprocess.DEVNULL, "cwd": "/"}
    subprocess.run(
        [*as_user, binaries / "initdb", "-D", data, "-A", "trust", "-U", "postgres", "-E", "UTF8", "--no-sync"],
        check=True,
        **quiet,
    )
    options = f"-c listen_addresses='' -c unix_socket_directories='{folder}' -c max_connections=60"
    subprocess.run(
        [*as_user, binaries / "pg_ctl", "-D", data, "-o", options, "-w", "-t", "60", "-l", folder / "log", "start"],
        check=True,
        **quiet,
    )

    def stop() -> None:
        subprocess.run([*as_user, binaries / "pg_ctl", "-D", data, "-m", "immediate", "stop"], check=False, **quiet)
        shutil.rmtree(folder, ignore_errors=True)

    atexit.register(stop)
    return f"postgresql://postgres@/postgres?host={folder}"
