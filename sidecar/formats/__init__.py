"""Transcript formats: import and export. One file per format; `registry.FORMATS` is the list."""
