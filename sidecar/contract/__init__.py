"""See `sidecar/ARCHITECTURE.md`."""
