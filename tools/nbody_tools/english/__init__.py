"""Counts phrases in changed lines that make native readers stop."""
