"""Labs: a step cut open, and what a student made of it, graded."""
