"""Labs: steps with code removed, and the grading of submissions."""
