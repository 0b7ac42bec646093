"""One module per vendor; a new vendor is one new file here, found by its name (`sidecar.wire.registry`)."""
