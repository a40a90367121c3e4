#!/usr/bin/env python3
"""Tests that the model in docs/cluster.md counts the same bytes and work as step 14's plan.

  model_test.py PLAN_NUMBERS [every]     `every`: tests all numbers of ranks up to 528
"""

from __future__ import annotations

import subprocess
import sys

from nbody_tools.cluster import model

SYSTEMS = ((262144, 768), (1048576, 768), (100003, 256), (700, 64))  # bodies, bodies per tile
SOME = (*range(1, 34), 48, 64, 65, 100, 128, 264, 300, 511, 527, 528)


def main() -> int:
    every = sys.argv[2:] == ["every"]
    ranks = range(1, model.MOST_RANKS + 1) if every else SOME
    wrong = 0
    for bodies, tile in SYSTEMS[:2] if every else SYSTEMS:
        lines = subprocess.run([sys.argv[1], str(bodies), str(tile), *map(str, ranks)], text=True,
                               stdout=subprocess.PIPE, check=True).stdout.splitlines()
        if len(lines) != len(ranks):
            sys.exit(f"{len(lines)} lines for {len(ranks)} numbers of ranks")
        for line in lines:
            count, *numbers = map(int, line.split())
            load = model.plan(bodies, count, tile)
            if numbers != [load.gathered, load.sums, load.work, load.all_work]:
                print(f"{bodies} bodies in tiles of {tile} on {count} ranks: {load}, the plan: "
                      f"{numbers}")
                wrong += 1
    print(f"{wrong} differences")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
