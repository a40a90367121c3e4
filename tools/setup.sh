# shellcheck shell=bash
# Finds what the project needs and installs what is missing, where that can be done without asking.
# Sourced by ./nbody:
#   set_up build|test|tour|inspect   returns when everything is there; otherwise says what is not, exits 1
#   find_python              prints the interpreter to use: one that can import what the tools import
#
# Presence is asked of the thing itself (a command, a header, an import), so that a compiler from
# elsewhere or a Python environment counts, and a machine that has everything never sees apt-get.

readonly CMAKE_NEEDED=3.25

# what | Debian package | why
readonly REQUIREMENTS='
compiler|g++|compiles the programs: C++20 with OpenMP
cmake|cmake|configures the build: version 3.25 or newer
ninja|ninja-build|runs the build
CLI11|libcli11-dev|reads the command lines
nlohmann_json|nlohmann-json3-dev|writes the result records
Boost.Beast|libboost-dev|serves the live view to a browser
Boost.Context|libboost-context-dev|switches between the threads of a block when CUDA code runs on the CPU
OpenBLAS|libopenblas-dev|stands in for cuBLAS when CUDA code runs on the CPU
Highway|libhwy-dev|vector instructions for the fast CPU program that GPU times are compared with
HDF5|libhdf5-dev|reads and writes Gadget snapshots
GoogleTest|libgtest-dev|runs the tests
gdb|gdb|repeats the sessions of docs/debugging.md
python3|python3|runs the tools, and prepares CUDA code for the host compiler
numpy|python3-numpy|computes what the pictures show
matplotlib|python3-matplotlib|draws the pictures
Jinja2|python3-jinja2|writes the documents and the page of a tour
ccache|ccache|compiles the shared library once for both presets, and nothing twice
git|git|names the revision in every result record
'

# What a format or a test is left out without, or only takes longer: installed where that is possible,
# else named.
readonly OPTIONAL=' HDF5 gdb ccache '

# The system's own interpreter comes second: the first python3 on the path may be an environment
# that lacks the packages the distribution has installed beside its own.
find_python() {
  local candidate
  for candidate in ${PYTHON:+"$PYTHON"} python3 /usr/bin/python3; do
    if "$candidate" -c 'import numpy, matplotlib, jinja2' 2>/dev/null; then
      command -v "$candidate"
      return 0
    fi
  done
  return 1
}

has_module() {
  local candidate
  for candidate in ${PYTHON:+"$PYTHON"} python3 /usr/bin/python3; do
    "$candidate" -c "import $1" 2>/dev/null && return 0
  done
  return 1
}

cxx() { command -v "${CXX:-c++}" || command -v g++; }

# A header is asked of the compiler: it alone knows where it looks. Without a compiler nothing is
# said, and the package database answers instead.
has_header() {
  local compiler
  compiler=$(cxx) && "$compiler" -std=c++20 -x c++ -fsyntax-only -include "$1" /dev/null 2>/dev/null
}

# Where another package has the header too, the library itself is asked for: cblas.h also comes with
# the reference BLAS, and the headers of Boost.Context with all others of Boost.
has_library() {
  local compiler
  compiler=$(cxx) && echo 'int main() {}' | "$compiler" -x c++ -o /dev/null - -Wl,--no-as-needed "-l$1" 2>/dev/null
}

is_installed() {
  [ "$(dpkg-query -W -f='${db:Status-Status}' "$1" 2>/dev/null)" = installed ]
}

has_compiler() {
  local compiler
  compiler=$(cxx) &&
    echo '#include <omp.h>
          #include <span>
          static_assert(_OPENMP > 0);' |
    "$compiler" -std=c++20 -fopenmp -x c++ -fsyntax-only - 2>/dev/null
}

has_cmake() {
  local version
  version=$(cmake --version 2>/dev/null | sed -n '1s/^cmake version //p')
  [ -n "$version" ] && [ "$(printf '%s\n' "$CMAKE_NEEDED" "$version" | sort -V | head -n 1)" = "$CMAKE_NEEDED" ]
}

is_there() {
  case $1 in
    compiler) has_compiler ;;
    cmake) has_cmake ;;
    ninja) command -v ninja >/dev/null ;;
    gdb | ccache) command -v "$1" >/dev/null ;;
    CLI11) has_header CLI/CLI.hpp || is_installed libcli11-dev ;;
    nlohmann_json) has_header nlohmann/json.hpp || is_installed nlohmann-json3-dev ;;
    Boost.Beast) has_header boost/beast/version.hpp || is_installed libboost-dev ;;
    Boost.Context) { has_header boost/context/detail/fcontext.hpp && has_library boost_context; } || is_installed libboost-context-dev ;;
    OpenBLAS) { has_header cblas.h && has_library openblas; } || is_installed libopenblas-dev ;;
    Highway) has_header hwy/highway.h || is_installed libhwy-dev ;;
    HDF5) has_header hdf5.h || has_header hdf5/serial/hdf5.h || is_installed libhdf5-dev ;;
    GoogleTest) has_header gtest/gtest.h || is_installed libgtest-dev ;;
    python3) command -v python3 >/dev/null ;;
    # All must be importable by one interpreter; find_python has the last word.
    numpy) find_python >/dev/null || has_module numpy ;;
    matplotlib) find_python >/dev/null || has_module matplotlib ;;
    Jinja2) find_python >/dev/null ;;
    # Only for the revision of a clone; an unpacked archive has none.
    git) [ ! -e .git ] || command -v git >/dev/null ;;
  esac
}

where_looked() {
  case $1 in
    compiler) echo "\$CXX, c++ and g++ on the PATH" ;;
    cmake | ninja | gdb | ccache | git) echo "the PATH" ;;
    python3) echo "the PATH" ;;
    numpy | matplotlib | Jinja2) echo "\$PYTHON, python3 on the PATH, /usr/bin/python3" ;;
    *) echo "the compiler's include and library paths" ;;
  esac
}

# What is missing for a command, as lines of REQUIREMENTS.
missing_for() {
  local what package why
  while IFS='|' read -r what package why; do
    [ -n "$what" ] || continue
    case $1:$what in
      # Neither a tour nor a build runs tests.
      tour:HDF5 | tour:GoogleTest | tour:gdb | tour:ccache | build:gdb) continue ;;
      inspect:HDF5 | inspect:GoogleTest | inspect:gdb | inspect:ccache) continue ;;
      view:GoogleTest | view:gdb | view:ccache) continue ;;
    esac
    is_there "$what" || echo "$what|$package|$why"
  done <<<"$REQUIREMENTS"
}

list_missing() {
  local what package why
  while IFS='|' read -r what package why; do
    printf '  %-22s %s\n' "$package" "$why"
  done <<<"$1"
}

give_up_without_apt() {
  local what package why
  echo "Missing (this system has no apt-get, so nothing was installed):"
  while IFS='|' read -r what package why; do
    printf '  %-14s %s; looked for in %s\n' "$what" "$why" "$(where_looked "$what")"
  done <<<"$1"
  echo "Install these with the package manager of your system, then run ./nbody again."
  exit 1
}

can_install() {
  command -v apt-get >/dev/null && { [ "$(id -u)" -eq 0 ] || sudo -n true 2>/dev/null; }
}

only_optional() {
  local what rest
  while IFS='|' read -r what rest; do
    [[ $OPTIONAL == *" $what "* ]] || return 1
  done <<<"$1"
}

set_up() {
  local missing packages as_root=()
  missing=$(missing_for "$1")
  [ -n "$missing" ] || return 0
  if ! can_install && only_optional "$missing"; then
    echo "Missing, and done without:"
    list_missing "$missing"
    return 0
  fi
  command -v apt-get >/dev/null || give_up_without_apt "$missing"

  packages=$(cut -d '|' -f 2 <<<"$missing" | tr '\n' ' ')
  packages=${packages% }
  echo "Missing, to be installed with apt-get:"
  list_missing "$missing"
  if [ "$(id -u)" -ne 0 ]; then
    if ! sudo -n true 2>/dev/null; then
      echo "Installing needs root. Give this line to the administrator, then run ./nbody again:"
      echo "apt-get update && apt-get install -y --no-install-recommends $packages"
      exit 1
    fi
    as_root=(sudo -n)
  fi
  phase "Update the package lists" apt-update "${as_root[@]}" apt-get update
  # shellcheck disable=SC2086  # one word a package
  phase "Install" apt-install "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get install -y --no-install-recommends $packages
  hash -r  # the shell remembers where commands were not

  missing=$(missing_for "$1")
  [ -n "$missing" ] || return 0
  echo "Installed, yet not usable (an older version, or another one comes first on the PATH):"
  list_missing "$missing"
  exit 1
}
