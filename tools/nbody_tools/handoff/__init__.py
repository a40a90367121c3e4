"""Writes a problem as input for another engine: ./nbody handoff."""
