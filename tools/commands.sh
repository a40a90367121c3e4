#!/usr/bin/env bash
# The part of ./nbody that installs and builds: commands.sh COMMAND [OPTION...]. nbody_tools/command_line
# contains the commands' help and checks their options.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

readonly LOGS=build/log

wrong_arguments() {
  echo "nbody: $1 (see ./nbody help)" >&2
  exit 2
}

source tools/progress.sh
source tools/setup.sh

# Two builds at the same time in one folder would spoil each other, so the second one waits. The lock is
# released when this program ends, or by unlock.
lock() {
  mkdir -p "$LOGS"
  command -v flock >/dev/null || return 0
  exec 9>build/.lock
  flock -n 9 || { echo "Another ./nbody is building in $PWD/build; waiting for it." && flock 9; }
}
unlock() { exec 9>&-; }

cores() { nproc 2>/dev/null || getconf _NPROCESSORS_ONLN; }

# nvcc is often installed outside the PATH; CMake takes CUDACXX.
find_nvcc() {
  if command -v "${CUDACXX:-nvcc}" >/dev/null; then return 0; fi
  [ -x /usr/local/cuda/bin/nvcc ] && export CUDACXX=/usr/local/cuda/bin/nvcc
}

has_gpu() { nvidia-smi -L 2>/dev/null | grep '^GPU ' >/dev/null; }  # not -q: see apt_has in setup.sh

# configure PRESET FOLDER [OPTION|-DNAME=VALUE...]: switches these options on. An option that is already
# on stays on, because CMake deletes the files of targets that are no longer configured. A command that
# does not need an option builds fewer targets instead.
configure() {
  local preset=$1 folder=$2 option python options=()
  shift 2
  [[ " $* " != *" BUILD_TESTING "* ]] || set -- "$@" NBODY_LIVE_VIEW  # the tests use it
  for option in BUILD_TESTING NBODY_EXPERIMENTS NBODY_ALL_TESTS; do
    if [[ " $* " == *" $option "* ]] || grep -qs "^$option:BOOL=ON" "$folder/CMakeCache.txt"; then
      options+=("-D$option=ON")
    else
      options+=("-D$option=OFF")
    fi
  done
  for option; do
    [[ $option != -D* ]] || options+=("$option")
  done
  # One interpreter for everything: CMake would take the first python3 it finds.
  python=$(find_python numpy,matplotlib,jinja2)
  [ "${CI-}" != true ] || options+=(-DNBODY_WARNINGS_ARE_ERRORS=ON)
  phase "Configure $folder" "configure-${folder#build/}" \
    cmake --preset "$preset" -B "$folder" "-DPython3_EXECUTABLE=$python" "${options[@]}"
}

# CCACHE_DEPEND: ccache looks up a file by the headers that it included the last time. Otherwise ccache
# would preprocess every file, which takes a fifth of a full build. CCACHE_BASEDIR: paths are relative, so
# that all presets share the files that the build itself writes. CCACHE_HASHDIR: clones do not share
# objects with debug information, because it contains a clone's file names, which the tracer reports.
export CCACHE_DEPEND=1 CCACHE_BASEDIR=$PWD CCACHE_HASHDIR=1

# compile FOLDER [TARGET...]: builds these targets; without any, all
compile() {
  local folder=$1
  shift
  phase "Build $folder" "build-${folder#build/}" \
    cmake --build "$folder" --parallel "$(cores)" ${1:+--target "$@"}
}

# build_targets PRESET FOLDER TARGET...: configures the folder only if it is not yet configured.
build_targets() {
  local preset=$1 folder=$2
  shift 2
  [ -f "$folder/build.ninja" ] || configure "$preset" "$folder"
  compile "$folder" "$@"
}

passed=0 failed=0 skipped=0
user_selection=()

# count PATTERN LOG: counts the tests in the output of ctest whose result matches the pattern. The summary
# of ctest would not do, because it counts a skipped test as passed.
count() { grep -c -E "^ *[0-9]+/[0-9]+ +Test +#[0-9]+: .*$1" "$2" || true; }

# run_tests NAME CTEST ARGUMENT...: shows the tests that did not pass; build/log has everything.
run_tests() {
  local name=$1 log=$LOGS/test-$1.log started=$SECONDS code=0 all good left selection=()
  local unremarkable='^ *Start +[0-9]+:|^ *[0-9]+/[0-9]+ +Test +#.*( Passed |\*\*\*Skipped| Not Run \(Disabled\))'
  unremarkable+='|^Test project |^Label Time|^[^ ]+ += +[0-9.]+ sec\*proc|^Total Test time|^$'
  shift
  [ ${#user_selection[@]} -eq 0 ] || selection=("${user_selection[@]}" --no-tests=ignore)
  # Tests share the cores, and threads that spin while they wait would take most of the time. OpenMP
  # still gets two threads, so that the tests run parallel code; OpenBLAS gets one thread, because its
  # threads always spin. Two more tests than cores run at a time, because some tests mostly wait.
  # The tests that -L or -R selects may exist only in another preset, so with these options it is not an
  # error if no test is found. Without these options it is an error, as the presets specify.
  OMP_NUM_THREADS=${OMP_NUM_THREADS:-2} OMP_WAIT_POLICY=${OMP_WAIT_POLICY:-passive} \
    OPENBLAS_NUM_THREADS=${OPENBLAS_NUM_THREADS:-1} \
    ctest "$@" --parallel "$(($(cores) + 2))" --output-on-failure "${selection[@]}" 2>&1 </dev/null |
    follow "Test $name" "$log" "$unremarkable" || code=$?
  all=$(count '' "$log")
  good=$(count ' Passed ' "$log")
  left=$(count '(\*\*\*Skipped|Not Run \(Disabled\))' "$log")
  passed=$((passed + good))
  skipped=$((skipped + left))
  failed=$((failed + all - good - left))
  # If ctest fails although no test failed, it stopped before the tests: count that as one failure.
  if [ "$code" -ne 0 ] && [ $((all - good - left)) -eq 0 ]; then
    failed=$((failed + 1))
    tail -n 20 "$log"
  fi
  echo "Test $name: $good passed, $((all - good - left)) failed, $left skipped in $((SECONDS - started)) s"
}

# test_cpu TEST_PRESET [OPTION]
test_cpu() {
  configure cpu build/cpu BUILD_TESTING "${@:2}"
  compile build/cpu
  compile_cuda_meanwhile
  run_tests "cpu" --preset "$1"
}

# test_sanitized PRESET
test_sanitized() {
  configure "$1" "build/$1" BUILD_TESTING NBODY_EXPERIMENTS
  phase "Build build/$1" "build-$1" cmake --build --preset "$1" --parallel "$(cores)"  # the preset's targets
  run_tests "$1" --preset "$1"
}

# While the preset cpu is built and tested, work for the preset cuda runs in the background, one process at
# a time, with its output in a file. `meanwhile` is that process; it is 0 if none runs (without nvcc).
meanwhile=0
begin_meanwhile() {
  PROGRESS_EVERY=0 "$@" >>"$LOGS/meanwhile.log" &
  meanwhile=$!
}
end_meanwhile() {
  wait "$meanwhile" && return
  cat "$LOGS/meanwhile.log"
  exit 1
}

# Configuring uses only one core, so the second folder is configured at the same time. Without a GPU, no
# program that nvcc builds can run. The quick tests then do not use nvcc, except in CI, where nvcc compiles
# the steps and links one of them, in build/nvcc.
cuda_folder=build/cuda
configure_cuda_meanwhile() {
  has_gpu || [ "$1" = nightly ] || [ "${CI-}" = true ] || return 0
  find_nvcc || return 0
  mkdir -p "$LOGS"
  : >"$LOGS/meanwhile.log"
  if has_gpu || [ "$1" = nightly ]; then
    begin_meanwhile configure cuda build/cuda BUILD_TESTING NBODY_EXPERIMENTS
  else
    cuda_folder=build/nvcc
    begin_meanwhile configure cuda build/nvcc BUILD_TESTING -DNBODY_CUDA_PROGRAMS=OFF
  fi
}

# Runs nvcc while the tests run; it ends before they do. It starts after the other folder is built, because
# ccache then has the files that both folders share.
compile_cuda_meanwhile() {
  [ "$meanwhile" -ne 0 ] && wait "$meanwhile" || return 0  # test_cuda reports failures
  begin_meanwhile compile "$cuda_folder"
}

# Without a GPU this still proves that nvcc accepts every step; tests that need a GPU are skipped.
# Programs that are the same in both presets were already tested in the preset cpu, so their tests (cpu_*)
# are excluded. No test preset is used, because its filters would override --label-exclude.
test_cuda() {
  if [ "$meanwhile" -eq 0 ]; then
    echo "No GPU or no nvcc here: the CUDA programs were compiled for the CPU only (./nbody build --gpu uses nvcc)."
    return
  fi
  end_meanwhile
  cat "$LOGS/meanwhile.log"
  run_tests cuda --test-dir "$cuda_folder" \
    --label-exclude nightly --exclude-regex cpu_
  has_gpu || echo "No GPU here: the tests that need one were skipped."
}

# Runs nightly tests within a number of minutes, or lists the outdated ones; first builds what it needs.
run_night_command() {
  case " $* " in
    *" --status "*) ;;
    *)
      set_up nightly
      lock
      find_nvcc || true
      ;;
  esac
  run_tool nightly "$@"
}

run_test_command() {
  local what=default
  case "${1-} ${2-}" in
    "--nightly --minutes"* | "--nightly --status" | "--nightly --tests"*)
      run_night_command "${@:2}"
      return
      ;;
  esac
  case ${1-} in
    --asan | --tsan | --nightly) what=${1#--} && shift ;;
  esac
  user_selection=("$@")
  # The quick tests leave out the experiments, and thorough tests whose subjects have not changed since
  # they passed (nbody_if_changed in cmake/tools.cmake). If the user selects tests, all are built,
  # because the selection may include them.
  local quick=(cpu)
  [ ${#user_selection[@]} -eq 0 ] || quick=(selected NBODY_EXPERIMENTS NBODY_ALL_TESTS)
  # A browser is large, so it is installed only in CI and for the nightly tests. Elsewhere the tests that
  # need a browser are skipped.
  if [ "$what" = nightly ]; then set_up nightly; elif [ "${CI-}" = true ]; then set_up ci; else set_up test; fi
  fetch_axe
  lock
  case $what in
    default) configure_cuda_meanwhile default && test_cpu "${quick[@]}" && test_cuda ;;
    asan) test_sanitized cpu-asan ;;
    tsan) test_sanitized cpu-tsan ;;
    nightly)
      configure_cuda_meanwhile nightly
      test_cpu nightly NBODY_EXPERIMENTS NBODY_ALL_TESTS && test_sanitized cpu-asan && test_sanitized cpu-tsan && test_cuda
      (run_tool nightly --record) || true  # fails if there are uncommitted changes
      ;;
  esac
  echo "Logs: $LOGS. $SECONDS s in all."
  echo "$passed passed, $failed failed, $skipped skipped"
  if [ $((passed + failed + skipped)) -eq 0 ]; then
    echo "nbody: no test was selected" >&2
    exit 1
  fi
  [ "$failed" -eq 0 ]
}

# Sets preset and folder to those of the programs to run: on the GPU if there is one.
choose_preset() {
  preset=cpu folder=build/cpu
  if has_gpu && find_nvcc; then
    preset=cuda folder=build/cuda
  fi
}

run_tour_command() {
  local preset folder code=0
  set_up tour
  lock
  choose_preset
  configure "$preset" "$folder"
  compile "$folder" tour_programs
  PYTHONPATH=tools "$(find_python numpy,matplotlib,jinja2)" -m nbody_tools tour --build "$folder" || code=$?
  echo "$SECONDS s in all. Look at report/index.html; the logs are in $LOGS."
  return "$code"
}

need_nvcc() {
  find_nvcc && return
  echo "nbody: --gpu needs nvcc, which is not on the PATH (set CUDACXX to its path)" >&2
  exit 1
}

# target_of WORD: prints the target that a word stands for. 3, 03 and step03_tiling stand for the step,
# memory03 for a program of memory/; any other word is itself the name of a target.
target_of() {
  local word=$1 folders sources
  case $word in [0-9] | [0-9][a-z]) word=0$word ;; esac
  sources=(memory/"$word"_*.cu)
  [ ! -f "${sources[0]}" ] || word=$(basename "${sources[0]}" .cu)
  folders=(step"$word"_*/)
  if [ -d "${folders[0]}" ]; then echo "${folders[0]%/}"; else echo "$word"; fi
}

has_target() { ninja -C "$1" -t query "$2" >/dev/null 2>&1; }

# build_named PRESET FOLDER WORD...
build_named() {
  local preset=$1 folder=$2 word program targets=()
  shift 2
  [ -f "$folder/build.ninja" ] || configure "$preset" "$folder"
  for word; do
    targets+=("$(target_of "$word")")
    has_target "$folder" "${targets[-1]}" ||  # the target is new, an experiment, or a test
      configure "$preset" "$folder" NBODY_EXPERIMENTS \
        "$(! is_there '<gtest/gtest.h>' || echo BUILD_TESTING)"
    has_target "$folder" "${targets[-1]}" ||
      wrong_arguments "'$word' is neither a step nor a target of $folder"
  done
  compile "$folder" "${targets[@]}" nbody_files  # with which plot, compare and handoff read the programs' files
  for word in "${targets[@]}"; do
    for program in "$word/$word" "memory/$word"; do
      [ ! -f "$folder/$program" ] || echo "Program: $folder/$program"
    done
  done
}

build_everything() {
  configure "$1" "$2" BUILD_TESTING NBODY_EXPERIMENTS
  compile "$2"
  echo "Programs: $2/stepNN_name/stepNN_name"
}

run_build_command() {
  local preset=cpu folder=build/cpu word
  if [ "${1-}" = --gpu ]; then
    shift
    need_nvcc
    preset=cuda folder=build/cuda
  fi
  for word; do
    [[ ! $(target_of "$word") =~ ^[0-9]+[a-z]?$ ]] || wrong_arguments "'$word' is not a step"
  done
  set_up "$([ $# -eq 0 ] && echo build || echo inspect)"
  lock
  if [ $# -gt 0 ]; then
    build_named "$preset" "$folder" "$@"
  else
    build_everything "$preset" "$folder"
    [ "$preset" = cuda ] || ! has_gpu || ! find_nvcc || build_everything cuda build/cuda
  fi
}

# Runs in the user's folder, because options may contain file names. On a machine with little more than a
# GPU, any python3 is good enough for commands that only measure.
run_tool() {
  local tools=$PWD/tools python
  if [ "$1" = inspect ]; then
    set_up inspect
  fi
  python=$(find_python numpy,matplotlib,jinja2) || python=$(command -v python3) ||
    wrong_arguments "$1 needs python3"
  cd "$OLDPWD"
  PYTHONPATH=$tools "$python" -m nbody_tools "$@"
}

# Builds or checks the user's own CUDA program, in the user's folder.
run_hostcuda() {
  local tool=$PWD/hostcuda/bin/hostcuda
  set_up inspect
  cd "$OLDPWD"
  exec "$tool" "$@"
}

# Builds the libraries that a submission is linked to, then grades it.
run_grade_command() {
  local more=()
  set_up inspect
  lock
  build_targets cpu build/cpu grade_tools
  if has_gpu && find_nvcc; then
    build_targets cuda build/cuda grade_tools
    more=(--cuda-build "$PWD/build/cuda")
  fi
  unlock
  run_tool grade "$@" "${more[@]}"
}

# Builds the programs that check a submission, then counts what the submission costs.
run_golf_command() {
  set_up inspect
  lock
  build_targets cpu build/cpu grade_tools
  unlock
  find_nvcc || true
  run_tool golf "$@"
}

has_simd() {  # in a folder that is not yet configured, CMake will look for Highway
  if [ -f "$folder/build.ninja" ]; then [ -d "$folder/cpu/simd" ]; else is_there '<hwy/highway.h>'; fi
}

# Sets step to the best program for the bodies, and puts its name into the plan. `many` is for many
# bodies, and `tree` for so many that even a GPU needs a tree.
choose_viewed_step() {
  local many=cpu_tree tree=cpu_tree
  step=cpu_simd
  has_simd || step=step00_cpu_omp many=$step tree=$step
  [ "$preset" = cpu ] || step=step10_tiled2d_cublas many=$step tree=step15_barnes_hut
  case $plan in
    *DEFAULT_TREE*) step=$tree ;;
    *DEFAULT_MANY*) step=$many ;;
  esac
  plan=${plan/DEFAULT_TREE/$step} plan=${plan/DEFAULT_MANY/$step}
  plan=${plan/DEFAULT/$step}
}

run_view_command() {
  local python tool=$PWD/view/view.py preset folder plan step
  python=$(command -v "${PYTHON:-python3}") || wrong_arguments "view needs python3"
  plan=$(cd "$OLDPWD" && "$python" "$tool" --plan "$@")  # file names are relative to that folder
  [ -n "$plan" ] || return 0  # after --help
  choose_preset
  if [[ " $* " == *" --plan "* ]]; then
    choose_viewed_step
    echo "$plan"
    return
  fi
  set_up view
  python=$(find_python numpy,matplotlib,jinja2)
  lock
  grep -qs '^NBODY_LIVE_VIEW:BOOL=ON' "$folder/CMakeCache.txt" && [ -f "$folder/build.ninja" ] ||
    configure "$preset" "$folder" NBODY_LIVE_VIEW
  choose_viewed_step
  # shellcheck disable=SC2086  # one word per target
  compile "$folder" $plan
  unlock
  folder=$PWD/$folder
  cd "$OLDPWD"
  exec "$python" "$tool" --step "$step" --build "$folder" "$@"
}

# An experiment with more than one source file has its own target; the others share a program.
run_experiment_command() {
  local name=${1-list} preset folder target program sources words=() options=(NBODY_EXPERIMENTS)
  case $name in
    list)
      list_experiments
      return
      ;;
    errata | sweeps) name+=" (a folder of several experiments)" ;;
    claims) wrong_arguments "'claims' is a folder of programs; build one as experiments/claims/README.md says" ;;
  esac
  [ -f "experiments/$name/README.md" ] ||
    wrong_arguments "'$name' is not an experiment; ./nbody experiment list shows them all"
  sources=("experiments/$name"/[!R]*)
  set_up inspect
  choose_preset
  target=$name program=$folder/experiments/$name/$name
  if [ "$name" = tensor_cores ]; then
    program=$folder/experiments/variants/$name/$name options+=(-DNBODY_VARIANTS=ON)
  elif [ "${sources[*]##*/}" = nbody.cu ]; then
    target=experiment_programs program=$folder/experiments/sweeps/$target words=("$name")
  elif [ "${sources[*]##*/}" = nbody.cpp ]; then
    target=experiment_programs_cpu program=$folder/experiments/sweeps/$target words=("$name")
  fi
  lock
  if ! [ -f "$folder/build.ninja" ] || ! has_target "$folder" "$target"; then
    configure "$preset" "$folder" "${options[@]}" \
      "$(! is_there '<gtest/gtest.h>' || echo BUILD_TESTING)" >&2
  fi
  compile "$folder" "$target" >&2
  unlock
  program=$PWD/$program
  cd "$OLDPWD"
  exec "$program" "${words[@]}" "${@:2}"
}

list_experiments() {
  local page
  for page in experiments/*/README.md; do
    page=${page#experiments/}
    case $page in claims/* | errata/* | sweeps/*) continue ;; esac
    printf '%-24s %s\n' "${page%/README.md}" "$(sed -n '1s/^# //p' "experiments/$page")"
  done
}

command=${1-}
[ $# -eq 0 ] || shift
case $command in
  setup) run_setup_command ;;
  test) run_test_command "$@" ;;
  view) run_view_command "$@" ;;
  grade) run_grade_command "$@" ;;
  golf) run_golf_command "$@" ;;
  experiment) run_experiment_command "$@" ;;
  cc | check) run_hostcuda "$command" "$@" ;;
  build) run_build_command "$@" ;;
  tour) run_tour_command ;;
  inspect) run_tool inspect "$@" ;;
  sweep)
    find_nvcc || true  # the sweep builds with nvcc
    run_tool sweep "$@"
    ;;
  *) wrong_arguments "'$command' needs python3: ./nbody setup installs it" ;;
esac
