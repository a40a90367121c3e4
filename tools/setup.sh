# shellcheck shell=bash
# Installs the missing packages that the project needs, if that needs no password.
# Sourced by ./nbody:
#   set_up COMMAND       returns if nothing is missing, or after it has installed the missing packages;
#                        otherwise lists these packages, and exits with 1
#   find_python MODULES  prints the first interpreter that can import all of "numpy, matplotlib"
#
# Looks for programs and libraries, not for packages. Therefore a compiler or a Python environment that
# was installed in another way counts, and apt-get is never called on a machine that has everything.

readonly CMAKE_NEEDED=3.25

readonly PACKAGES=packaging/packages.txt
readonly AXE=packaging/axe.txt

# package_manager: prints the one that this system has: apt, dnf or pacman; prints nothing if it has none
package_manager() {
  local manager
  for manager in apt dnf pacman; do
    if command -v "${manager/apt/apt-get}" >/dev/null; then
      echo "$manager"
      return
    fi
  done
}

# Tries /usr/bin/python3 last. It may succeed where the first python3 on the path fails, because that one
# may be an environment that lacks the distribution's packages.
find_python() {
  local candidate
  for candidate in ${PYTHON:+"$PYTHON"} python3 /usr/bin/python3; do
    if "$candidate" -c "import $1" 2>/dev/null; then
      command -v "$candidate"
      return 0
    fi
  done
  return 1
}

# compiles TEXT ARGUMENT...: succeeds if the compiler accepts this C++ text with these arguments.
compiles() {
  local text=$1 compiler
  shift
  compiler=$(command -v "${CXX:-c++}" || command -v g++) &&
    "$compiler" -std=c++20 -fopenmp -idirafter /usr/include/openblas -x c++ -o /dev/null - "$@" \
      2>/dev/null <<<"$text"
}

cmake_version() { cmake --version 2>/dev/null | sed -n '1s/^cmake version //p'; }

# is_there PROOF...: succeeds if all of these are installed. A proof, as in packages.txt, is a program, a
# file, a library (-l...), a header (<...>) or a Python module (import:...).
is_there() {
  local proof
  for proof; do
    case $proof in
      cmake) printf '%s\n' "$CMAKE_NEEDED" "$(cmake_version)" | sort -VC ;;
      git) [ ! -e .git ] || command -v git >/dev/null ;;  # an unpacked archive has no revision
      browser) [ -n "$(command -v chromium chromium-browser google-chrome)" ] ;;
      import:*) find_python "${proof#import:}" >/dev/null ;;
      /*) [ -e "$proof" ] ;;
      -l*) compiles 'int main() {}' -Wl,--no-as-needed "$proof" ;;
      '<'*) compiles "#if !__has_include($proof)"$'\n#error\n#endif' -E ;;
      *) PATH=$PATH:/usr/sbin command -v "$proof" >/dev/null ;;  # where daemons are installed
    esac || return 1
  done
}

# missing_for COMMAND: prints a line "package|proofs|without|purpose" for each missing package. The names
# are those of dnf or pacman, or else of Debian.
missing_for() {
  local manager apt dnf pacman conda spack proofs without purpose
  manager=$(package_manager)
  # shellcheck disable=SC2034  # ${!manager} reads one of these variables
  while IFS='|' read -r apt dnf pacman conda spack proofs without purpose; do
    [[ -z $apt || $apt = \#* || $proofs = proofs || " $without " == *" $1 "* ]] && continue
    # shellcheck disable=SC2086  # one word per proof
    is_there $proofs && continue
    case $manager in
      dnf | pacman) [ "${!manager}" = - ] || echo "${!manager}|$proofs|$without|$purpose" ;;
      *) echo "$apt|$proofs|$without|$purpose" ;;
    esac
  done <"$PACKAGES"
}

list() {
  local package proofs without purpose
  while IFS='|' read -r package proofs without purpose; do
    if [ "$package" = cmake ] && [ -n "$(cmake_version)" ]; then
      purpose+="; $(command -v cmake) is $(cmake_version) (newer ones: https://cmake.org/download)"
    fi
    printf '  %-22s %s\n' "$package" "$purpose"
  done <<<"$1"
}

# cannot_install MISSING PACKAGE...
cannot_install() {
  if ! grep -qv '|[^|]*optional|' <<<"$1"; then
    echo "Missing, but not required:"
    list "$1"
    return
  fi
  echo "Missing:"
  list "$1"
  shift
  local line
  case $(package_manager) in
    apt) line="apt-get update && apt-get install -y --no-install-recommends $*" ;;
    dnf) line="dnf install -y $*" ;;
    pacman) line="pacman -S --needed $*" ;;
    *) line= ;;
  esac
  if [ -n "$line" ]; then
    echo "Installing needs root. Give this line to the administrator, then run ./nbody again:"
    echo "$line"
  else
    echo "The package names above are Debian's. Install the packages with this system's package" \
      "manager, then run ./nbody again."
  fi
  echo "Without an administrator: conda env create -f environment.yml && conda activate nbody-steps"
  exit 1
}

# apt_has MISSING: prints the lines of MISSING, without the optional packages that this distribution does
# not have. For example, Ubuntu has Chromium only as a snap.
apt_has() {
  local package rest
  while IFS='|' read -r package rest; do
    [ -n "$package" ] || continue
    # Without -q grep reads to the end: apt-cache would fail if nobody read the rest (pipefail).
    [[ $rest != *optional\|* ]] ||
      apt-cache policy "$package" 2>/dev/null | grep 'Candidate: [^(]' >/dev/null || continue
    echo "$package|$rest"
  done <<<"$1"
}

set_up() {
  local missing packages as_root=()
  missing=$(missing_for "$1")
  [ -n "$missing" ] || return 0
  mapfile -t packages < <(cut -d '|' -f 1 <<<"$missing" | awk '!seen[$0]++')
  [ "$(id -u)" -eq 0 ] || as_root=(sudo -n)
  if ! command -v apt-get >/dev/null || ! "${as_root[@]}" true 2>/dev/null; then
    cannot_install "$missing" "${packages[@]}"
    return
  fi
  echo "Missing, to be installed with apt-get:"
  list "$missing"
  phase "Update the package lists" apt-update "${as_root[@]}" apt-get update
  mapfile -t packages < <(apt_has "$missing" | cut -d '|' -f 1 | awk '!seen[$0]++')
  [ ${#packages[@]} -gt 0 ] || return 0
  phase "Install" apt-install "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get install -y --no-install-recommends "${packages[@]}"
  hash -r  # the shell caches failed lookups of commands

  missing=$(apt_has "$(missing_for "$1")")
  [ -n "$missing" ] || return 0
  echo "Installed, yet not usable (too old, or another version comes first on the PATH):"
  list "$missing"
  exit 1
}

# fetch_axe: downloads axe-core once, if there is a browser to run it. Without it some browser tests
# are skipped, so a failure is only reported.
fetch_axe() {
  local python
  is_there browser || return 0
  compgen -G "build/axe/*.whl" >/dev/null && return
  if ! python=$(find_python pip); then
    echo "Accessibility will not be tested: ./nbody fetches axe-core with pip, and there is no pip."
    return
  fi
  mkdir -p build/axe
  "$python" -m pip --quiet --disable-pip-version-check download --no-deps --require-hashes \
    --requirement "$AXE" --dest build/axe >build/axe/log.txt 2>&1 ||
    echo "Accessibility will not be tested: axe-core was not fetched (see build/axe/log.txt)."
}

# The command setup: installs everything that building, testing and the documents need, and reports
# whether anything is still missing.
run_setup_command() {
  local missing
  missing=$(missing_for setup)
  set_up setup
  fetch_axe
  if [ -z "$missing" ]; then
    echo "Nothing to install: everything in $PACKAGES is here. ./nbody tour shows what there is to" \
      "see."
  elif [ -z "$(missing_for setup)" ]; then
    echo "Installed: everything in $PACKAGES is here. ./nbody tour shows what there is to see."
  fi
}
