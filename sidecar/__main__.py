"""`python -m sidecar` is `history-sidecar`."""

from sidecar.cli import main

raise SystemExit(main())
