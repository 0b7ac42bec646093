"""Append one message from another process: `append.py STORE HISTORY TEXT`; returns when it is on disk."""

import sys

from sidecar.client import Sidecar

store, history, text = sys.argv[1:]
with Sidecar.spawn(store=store, name="other") as sidecar:
    sidecar.append(history, [{"message": {"role": "assistant", "content": text}}])
