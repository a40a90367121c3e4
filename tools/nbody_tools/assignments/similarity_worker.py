"""Compares files with copydetect; similarity.py starts it in a Python that has copydetect.

Reads {"submissions": {name: file}, "others": {name: file}} and writes one row [submission, share,
other] for each submission. The code of the starters is not subtracted from the submissions, because
it has only two lines, and because copydetect 0.5.0 also subtracts repeated text whenever it
subtracts any text.
"""

import json
import sys

from copydetect import CodeFingerprint, compare_files

K = 25  # shortest copy that counts, in characters of code without names
WINDOW = 1  # every equal piece is found


def fingerprint(file: str) -> CodeFingerprint:
    with open(file, encoding="utf-8", errors="replace") as text:
        return CodeFingerprint(file, K, WINDOW, language="cuda", fp=text)


asked = json.load(sys.stdin)
mine = {name: fingerprint(file) for name, file in asked["submissions"].items()}
theirs = {name: fingerprint(file) for name, file in asked["others"].items()}
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
