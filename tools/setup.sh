# shellcheck shell=bash
# Installs what the project needs and is missing, where that can be done without asking.
# Sourced by ./nbody:
#   set_up COMMAND       returns if everything is there; otherwise says what is not, and exits 1
#   find_python MODULES  prints the first interpreter that can import all of "numpy, matplotlib"
#
# Presence is asked of the thing itself, so that a compiler from elsewhere or a Python environment
# counts, and a machine that has everything never sees apt-get.

readonly CMAKE_NEEDED=3.25

# Package of Debian and Ubuntu | what proves that it is there: a command, a <header>, a -llibrary or
# import:MODULES | commands that do without it | what it is for. A library is asked for where other
# packages have the header too: cblas.h also comes with the reference BLAS, and the headers of
# Boost.Context with all others of Boost. What is optional is only named where it cannot be installed.
readonly PACKAGES='
g++|<omp.h> <span>||compiles the programs: C++20 with OpenMP
cmake|cmake||configures the build: version 3.25 or newer
ninja-build|ninja||runs the build
libcli11-dev|<CLI/CLI.hpp>||reads the command lines
nlohmann-json3-dev|<nlohmann/json.hpp>||writes the result records
libboost-dev|<boost/beast/version.hpp>||serves the live view to a browser
libboost-context-dev|<boost/context/detail/fcontext.hpp> -lboost_context||switches between the threads of a block when CUDA code runs on the CPU
libopenblas-dev|<cblas.h> -lopenblas||stands in for cuBLAS when CUDA code runs on the CPU
libhwy-dev|<hwy/highway.h>||vector instructions for the fast CPU program that GPU times are compared with
libhdf5-dev|h5cc|tour inspect optional|reads and writes Gadget snapshots
libopenmpi-dev|mpicc|tour inspect view optional|builds step 14, which runs on several GPUs and machines
openmpi-bin|mpirun|tour inspect view optional|starts the ranks of step 14
libgtest-dev|<gtest/gtest.h>|tour inspect view|runs the tests
gdb|gdb|tour inspect view build optional|repeats the sessions of docs/debugging.md
python3|python3||runs the tools, and prepares CUDA code for the host compiler
python3-numpy|import:numpy||computes what the pictures show
python3-matplotlib|import:numpy,matplotlib||draws the pictures
python3-jinja2|import:numpy,matplotlib,jinja2||writes the documents and the page of a tour
ccache|ccache|tour inspect view optional|compiles the shared library once for both presets, and nothing twice
git|git||names the revision in every result record
'

# The system's own interpreter comes second: the first python3 on the path may be an environment
# that lacks the packages the distribution has installed beside its own.
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

# compiles TEXT ARGUMENT...
compiles() {
  local text=$1 compiler
  shift
  compiler=$(command -v "${CXX:-c++}" || command -v g++) &&
    "$compiler" -std=c++20 -fopenmp -x c++ -o /dev/null - "$@" 2>/dev/null <<<"$text"
}

cmake_version() { cmake --version 2>/dev/null | sed -n '1s/^cmake version //p'; }

# is_there PROOF...
is_there() {
  local proof
  for proof; do
    case $proof in
      cmake) printf '%s\n' "$CMAKE_NEEDED" "$(cmake_version)" | sort -VC ;;
      git) [ ! -e .git ] || command -v git >/dev/null ;;  # an unpacked archive has no revision
      import:*) find_python "${proof#import:}" >/dev/null ;;
      -l*) compiles 'int main() {}' -Wl,--no-as-needed "$proof" ;;
      '<'*) compiles "#if !__has_include($proof)"$'\n#error\n#endif' -E ;;
      *) command -v "$proof" >/dev/null ;;
    esac || return 1
  done
}

# missing_for COMMAND: lines of PACKAGES
missing_for() {
  local package proofs without purpose
  while IFS='|' read -r package proofs without purpose; do
    [[ -z $package || " $without " == *" $1 "* ]] && continue
    # shellcheck disable=SC2086  # one word per proof
    is_there $proofs || echo "$package|$proofs|$without|$purpose"
  done <<<"$PACKAGES"
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
    echo "Missing, and done without:"
    list "$1"
    return
  fi
  echo "Missing:"
  list "$1"
  shift
  if command -v apt-get >/dev/null; then
    echo "Installing needs root. Give this line to the administrator, then run ./nbody again:"
    echo "apt-get update && apt-get install -y --no-install-recommends $*"
  else
    echo "This system has no apt-get: install these with its own package manager, then run ./nbody again."
  fi
  exit 1
}

set_up() {
  local missing packages as_root=()
  missing=$(missing_for "$1")
  [ -n "$missing" ] || return 0
  mapfile -t packages < <(cut -d '|' -f 1 <<<"$missing")
  [ "$(id -u)" -eq 0 ] || as_root=(sudo -n)
  if ! command -v apt-get >/dev/null || ! "${as_root[@]}" true 2>/dev/null; then
    cannot_install "$missing" "${packages[@]}"
    return
  fi
  echo "Missing, to be installed with apt-get:"
  list "$missing"
  phase "Update the package lists" apt-update "${as_root[@]}" apt-get update
  phase "Install" apt-install "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get install -y --no-install-recommends "${packages[@]}"
  hash -r  # the shell remembers where commands were not

  missing=$(missing_for "$1")
  [ -n "$missing" ] || return 0
  echo "Installed, yet not usable (too old, or another version comes first on the PATH):"
  list "$missing"
  exit 1
}
