"""Generates, grades and compares the assignments of course/assignments."""
