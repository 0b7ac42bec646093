"""The sans-IO core: values and pure functions over histories.

Rules: imports the standard library and attrs only; no asyncio, logging, os, time, random, cattrs or pygls.
The caller passes ids and times in. Guarded by `tests/test_architecture.py`.
"""
