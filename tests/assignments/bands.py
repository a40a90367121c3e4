"""The points that each kind of program may get for an assignment, as course/assignments/README.md
promises. A program that does more never gets fewer points than one that does less."""

BANDS = {
    "starter": (0, 0),
    "host": (0, 0),  # the host computes the results
    "nothing": (0, 10),  # the kernel that matters is not launched
    "first kernel": (5, 25),  # the kernel that writes the result is missing
    "no results": (14, 30),  # all accesses of the method, but completely wrong results
    "unrecognised": (14, 30),  # one slip, after which every number is 0
    "few bodies": (20, 44.9),  # a few bodies are read; fewer points than "other method"
    "some bodies": (20, 85),  # only some of the bodies or cells are read
    "one thread": (40, 50),  # right
    "other method": (45, 75),  # right, or nearly, but most of the method is missing
    "race": (45, 80),  # complete but for one atomic operation: right only in the grader's orders
    "slip": (62, 91),  # complete, but for one slip
    "part": (60, 90),  # right, but one part of the method is missing
    "complete": (100, 100),
}
