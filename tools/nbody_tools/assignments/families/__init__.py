"""The families of assignments, one module per folder of course/assignments."""
