#!/usr/bin/env bash
# Compiles the initial conditions with every compiler installed here, unoptimised and optimised for
# this CPU, and compares their bits with hashes.txt. Exits with 77 if no such compiler is installed.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
source_folder=$here/../../common
work=$(mktemp -d)
trap 'rm -r "$work"' EXIT

compilers=()
for compiler in g++ clang++; do
  ! command -v "$compiler" >/dev/null || compilers+=("$compiler")
done
[ "${#compilers[@]}" -gt 0 ] || exit 77

for compiler in "${compilers[@]}"; do
  for flags in "-O0" "-O3 -march=native"; do
    # shellcheck disable=SC2086  # flags are words
    "$compiler" -std=c++20 -ffp-contract=off $flags -I"$source_folder/include" -I"$source_folder" \
      "$source_folder"/scenarios/*.cpp "$source_folder"/{physics/bodies,support/error}.cpp \
      "$here/same_bits.cpp" -o "$work/same_bits"
    "$work/same_bits" "$here/hashes.txt"
    echo "$compiler $flags: the same bits"
  done
done
