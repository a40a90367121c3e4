#!/usr/bin/env bash
# Does one of these jobs in a bare chroot of a Debian release, without this machine's software:
#   in_debian.sh SUITE JOB REPOSITORY CCACHE [VERSION]
# SUITE is bookworm, trixie or sid. Only committed files of REPOSITORY are used. JOB is one of:
#   commands      runs the two commands of the README
#   clang         builds everything with clang++ VERSION; tests hostcuda and four steps
#   arm64         builds for arm64; under qemu, tests hostcuda and runs steps 00, 03, 12 and 15
# Exits with 77 and a reason if this machine cannot do the job.
set -euo pipefail

skip() {
  echo "skipped: $1"
  exit 77
}

suite=$1 job=$2 repository=$3 ccache=$4
command -v mmdebstrap >/dev/null || skip "there is no mmdebstrap (Debian: apt install mmdebstrap)"
[ "$(id -u)" -eq 0 ] || skip "only root can mount /dev and /proc in a chroot"
[ -e /usr/share/keyrings/debian-archive-keyring.gpg ] || skip "there are no keys of Debian's archive"

root=$(mktemp -d)
clean() {
  for mounted in dev proc sys ccache; do
    if mountpoint -q "$root/r/$mounted"; then
      umount "$root/r/$mounted" || umount -l "$root/r/$mounted"
    fi
  done
  # Removes $root only if nothing is mounted in it: rm must not reach the machine's own devices.
  if grep -q " $root/" /proc/mounts; then
    echo "in_debian: something is still mounted in $root, which stays" >&2
  else
    rm -rf "$root"
  fi
}
trap clean EXIT

# Uses this machine's package mirror. An outdated index is accepted: it is good enough for sid.
sources=/etc/apt/sources.list.d/debian.sources
mirror=$(awk '/^URIs:/ { print $2; exit }' "$sources" 2>/dev/null || true)
if ! mmdebstrap --variant=apt --include=ca-certificates,git,python3,sudo \
  --aptopt='Acquire::Check-Valid-Until "false"' "$suite" "$root/r" \
  "${mirror:-http://deb.debian.org/debian}" >"$root/log" 2>&1 </dev/null; then
  tail -n 5 "$root/log"
  exit 1
fi
cp -a /etc/apt/apt.conf.d/. "$root/r/etc/apt/apt.conf.d/"
cp /etc/resolv.conf "$root/r/etc/"
git clone -q "$repository" "$root/r/root/nbody-steps"
mkdir -p "$ccache" "$root/r/ccache"
mount --bind /dev "$root/r/dev"
mount -t proc proc "$root/r/proc"
mount -t sysfs -o ro sysfs "$root/r/sys"  # mpirun of Debian 13 reads the cores there
mount --bind "$ccache" "$root/r/ccache"

# inside COMMAND runs it without this shell's environment, except for the network settings.
inside() {
  local network=()
  mapfile -t network < <(env | grep -iE '^(https?_proxy|no_proxy)=' || true)
  echo "+ $1"
  chroot "$root/r" env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin TERM=dumb \
    CCACHE_DIR=/ccache OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 DEBIAN_FRONTEND=noninteractive \
    "${network[@]}" bash -euo pipefail -c "cd /root/nbody-steps; $1" </dev/null
}
install="apt-get install -y --no-install-recommends"
steps="step(00|03|12|15)_[a-z0-9_]*"
quietly=">/tmp/log 2>&1 || { tail -n 40 /tmp/log; exit 1; }"

case $job in
  commands)
    inside "./nbody tour"
    inside "CI=true ./nbody test"
    ;;
  clang)
    version=$5
    inside "apt-get update $quietly"
    inside "$install \$(sh packaging/names.sh apt setup) \
      clang-$version libomp-$version-dev $quietly"
    inside "cmake --preset dev -DCMAKE_CXX_COMPILER=clang++-$version \
      -DNBODY_EXPERIMENTS=OFF $quietly"
    inside "cmake --build build/cpu --parallel \$(nproc) $quietly"
    inside "ctest --test-dir build/cpu --no-tests=error --output-on-failure \
      -R '^(hostcuda\.(eager|reverse|random|bugs|c_library)|$steps\.(force|physics))$'"
    ;;
  arm64)
    inside "dpkg --add-architecture arm64; apt-get update $quietly"
    inside "$install \$(sh packaging/names.sh apt setup) g++-aarch64-linux-gnu qemu-user \
      libboost-context-dev:arm64 libopenblas-dev:arm64 libgtest-dev:arm64 $quietly"
    inside "cmake -G Ninja -B build/arm64 --toolchain tests/nightly/arm64.cmake \
      -DNBODY_EXPERIMENTS=OFF $quietly"
    inside "cmake --build build/arm64 --parallel \$(nproc) --target hostcuda_test \
      {step00_cpu_omp,step03_tiling,step12_newton3,step15_barnes_hut}{,_test} $quietly"
    # Under qemu, the tests of physics and of all sizes would exceed their time limits. Two runs and
    # the force tests replace them.
    inside "for step in step00_cpu_omp step03_tiling step12_newton3 step15_barnes_hut; do
        qemu-aarch64 build/arm64/\$step/\$step --scenario solar-system --steps 100
        qemu-aarch64 build/arm64/\$step/\$step --systems 2 --bodies 1031 --steps 3
      done"
    inside "ctest --test-dir build/arm64 --no-tests=error --output-on-failure \
      -R '^(hostcuda\.(eager|reverse|random|lazy|strict|no_poison)|$steps\.force)$'"
    ;;
  *)
    echo "in_debian: '$job' is not a job; choose commands, clang or arm64" >&2
    exit 2
    ;;
esac
