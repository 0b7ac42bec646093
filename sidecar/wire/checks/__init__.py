"""The rules of the checker, grouped by what they look at."""
