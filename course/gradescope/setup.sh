#!/usr/bin/env bash
# Runs once, when Gradescope builds the image: unpacks the repository, installs what building needs, and
# grades a starter, so that everything a submission needs is built and known to work.
set -euo pipefail
autograder=${AUTOGRADER:-/autograder}

mkdir -p "$autograder/nbody"
tar -xzf "$autograder/source/nbody.tar.gz" -C "$autograder/nbody"
cd "$autograder/nbody"
./nbody setup

./nbody lab 03 --to "$autograder/starter"
./nbody grade 03 "$autograder/starter/nbody.cu" --gradescope "$autograder/starter/results.json" || true
[ -s "$autograder/starter/results.json" ] || { echo "The grader does not work in this image."; exit 1; }
