#!/bin/sh
# names.sh apt|dnf|pacman|conda|spack COMMAND: the packages that COMMAND needs, one per line.
exec awk -F'|' -v manager="$1" -v command="$2" '
  /^#/ { next }
  !column {
    for (i = 1; i <= NF; ++i) {
      if ($i == manager) column = i
      if ($i == "without") without = i
    }
    next
  }
  (" " $without " ") !~ (" " command " ") && $column != "-" && !seen[$column]++ { print $column }
' "${0%/*}/packages.txt"
