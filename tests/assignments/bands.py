"""The points that kinds of programs may get for an assignment, as course/assignments/README.md
promises. A program that does more never gets less than one that does less."""

BANDS = {
    "starter": (0, 0),
    "host": (0, 0),  # the host computes the results
    "nothing": (0, 10),  # the kernel that matters is not launched
    "first kernel": (3, 17),  # without the kernel that writes the result
    "no results": (8, 18),  # all accesses of the method, but results that are nothing like right
    "unrecognised": (8, 18),  # one slip, after which every number is 0
    "some bodies": (20, 85),  # only a part of the bodies or cells is looked at
    "one thread": (40, 50),  # right
    "other method": (45, 75),  # right, or nearly, but most of the method is missing
    "slip": (65, 90),  # complete, but for one slip
    "part": (60, 90),  # right, but one part of the method is missing
    "complete": (100, 100),
}
