"""Projections to vendors: `project`, `check`, `parse`, `vendors`. Sans-IO; imports `sidecar.core` only."""
