"""Compares files by copydetect; similarity.py starts it in a Python that has copydetect.

Reads {"submissions": {name: file}, "others": {name: file}, "boilerplate": [file]} and writes one
row [submission, share, other] for each submission.
"""

import json
import sys

from copydetect import CodeFingerprint, compare_files

K = 25  # characters of code without names that must be equal to count
WINDOW = 1  # every equal piece is found


def fingerprint(file, boilerplate=()):
    return CodeFingerprint(file, K, WINDOW, boilerplate, language="cuda")


asked = json.load(sys.stdin)
known = [value for file in asked["boilerplate"] for value in fingerprint(file).hashes]
mine = {name: fingerprint(file, known) for name, file in asked["submissions"].items()}
theirs = {name: fingerprint(file, known) for name, file in asked["others"].items()}
rows = []
for name, own in mine.items():
    best = (0.0, "-")
    classmates = ((f"submission of {other}", one) for other, one in mine.items() if other != name)
    for other, one in (*theirs.items(), *classmates):
        if not len(own.hashes) or not len(one.hashes):
            continue
        share = float(compare_files(own, one)[1][0])
        best = max(best, (share, other))
    rows.append([name, *best])
print(json.dumps(rows))
