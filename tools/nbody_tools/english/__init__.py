"""Counts phrases that make native readers stop, in lines that have changed."""
