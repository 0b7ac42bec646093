"""History Sidecar: named agent histories behind a language-server-style process.

Only the version lives here, so that `history-sidecar --version` imports nothing else.
"""

__version__ = "0.1.0"
