"""Grades the submissions of a class and writes tables for gradebooks."""
