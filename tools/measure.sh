#!/usr/bin/env bash
# Checks and times the steps on a machine with a GPU; needs the programs of the cuda preset and nothing
# else. Run from the root of the repository:
#
#   tools/measure.sh BUILD OUT [PART...]      without parts: all but multi
#
# check     every step's tests, GPU required
# sanitize  compute-sanitizer's four tools on every step at a small size
# systems   32 systems x 8192 bodies x 20 steps, all steps
# single    one system of 16384, 65536 and 262144 bodies, the steps that use more than one block for it
# large     one system of 1,125,000 bodies, step 10
# variants  BUILD/experiments/variants, made with -D NBODY_VARIANTS=ON
# timeline  what overlapped with what, of the steps with streams
# profile   Nsight Compute, raw, of one time step of every step
# activity  experiments/activity_map: every rung over N and over D
# multi     1, 2, 4 and 8 devices, as far as there are so many: 256 systems x 8192 bodies x 20 steps
# Records go to OUT/*.jsonl, logs beside them. Exit code 1 if anything failed.
set -u
build=${1:?BUILD OUT [part...]}
out=${2:?BUILD OUT [part...]}
shift 2
parts=${*:-check sanitize systems single large variants timeline profile activity}
mkdir -p "$out"
export NBODY_REQUIRE_GPU=1
failed=0

wants() { [[ " $parts " == *" $1 "* ]]; }
steps() { for folder in "$build"/step[0-9][0-9]_*; do basename "$folder"; done; }
fail() { echo "FAILED: $*"; failed=1; }

# record FILE PROGRAM ARGUMENTS...: appends one record, prints one line
record() {
  local file=$1 step=$2
  shift 2
  if ! "$build/$step/${step##*/}" "$@" --quiet --json "$out/one.json" 2>>"$out/errors.log"; then
    fail "$step $*"
  fi
  [ -f "$out/one.json" ] || return
  cat "$out/one.json" >>"$out/$file"
  python3 - "$out/one.json" <<'PYTHON'
import json, sys
r = json.load(open(sys.argv[1]))
print("%-24s %d dev %3d x %7d x %3d  compute %.6f s (iqr %.6f)  total %.6f s  %8.1f G/s  rms %.2e  %s" % (
    r["step"], r["device"]["count"], r["systems"], r["bodies"], r["steps"], r["median"]["compute"], r["iqr"]["compute"],
    r["median"]["total"], r["interactions_per_second"] * 1e-9,
    r["errors"].get("acceleration_rms") or float("nan"), r["verdict"]), flush=True)
PYTHON
  rm -f "$out/one.json"
}

if wants check; then
  for step in $(steps); do
    if "$build/$step/${step}_test" >"$out/$step.test.log" 2>&1; then
      echo "$step: $(grep -c '       OK' "$out/$step.test.log") tests passed"
    else
      fail "$step tests"
      grep -E 'FAILED|Failure|>|error' "$out/$step.test.log" | head -20
    fi
    NBODY_PROGRAM="$build/$step/$step" "$build/tests/command_line/command_line_test" \
      >"$out/$step.command_line.log" 2>&1 || { fail "$step command line"; grep -A8 Failure "$out/$step.command_line.log" | head -40; }
  done
fi

if wants sanitize; then
  for step in $(steps); do
    [ "$step" = step00_cpu_omp ] && continue
    for tool in memcheck racecheck synccheck initcheck; do
      log="$out/$step.$tool.log"
      compute-sanitizer --tool $tool --error-exitcode 9 "$build/$step/$step" --scenario galaxies \
        --systems 3 --bodies 1100 --steps 2 --validate off --quiet >"$log" 2>&1
      code=$?
      echo "$step $tool: exit $code, $(grep -E 'ERROR SUMMARY|RACECHECK SUMMARY' "$log" | sed 's/=* *//')"
      [ $code -eq 0 ] || fail "$step $tool"
    done
  done
fi

if wants systems; then
  for step in $(steps); do
    record systems.jsonl "$step" --scenario galaxies --systems 32 --bodies 8192 --steps 20 \
      --warmup 1 --repeat 10
  done
fi

if wants single; then
  for bodies in 16384 65536 262144; do
    for step in $(steps); do
      [[ "$step" < step05 ]] && continue
      record single.jsonl "$step" --scenario plummer --bodies $bodies --steps 5 --warmup 1 --repeat 10
    done
  done
fi
if wants large; then
  record single.jsonl step10_tiled2d_cublas --scenario plummer --bodies 1125000 --steps 1 --warmup 1 \
    --repeat 10
fi

if wants variants; then
  for folder in "$build"/experiments/variants/step*; do
    step=experiments/variants/$(basename "$folder")
    record variants.jsonl "$step" --scenario galaxies --systems 32 --bodies 8192 --steps 20 \
      --warmup 1 --repeat 10
    case $step in *step06* | *step10*)
      record variants.jsonl "$step" --scenario plummer --bodies 262144 --steps 5 --warmup 1 --repeat 10 ;;
    esac
  done
fi

if wants timeline; then
  for step in step05_streams step06_ldg_fastmath step07_overlap step09_soa \
    experiments/variants/step07_by_system; do
    [ -x "$build/$step/${step##*/}" ] || continue
    record timeline.jsonl "$step" --scenario galaxies --systems 32 --bodies 8192 --steps 20 \
      --warmup 1 --repeat 1 --validate off --timeline "$out/${step##*/}.timeline.csv"
  done
fi

if wants profile; then
  for step in $(steps); do
    [ "$step" = step00_cpu_omp ] && continue
    ncu --clock-control none --set full --csv --page raw --launch-count 2 \
      "$build/$step/$step" --scenario galaxies --systems 32 --bodies 8192 --steps 1 --validate off \
      --quiet >"$out/$step.ncu.csv" 2>"$out/$step.ncu.log" || fail "$step profile"
    echo "$step: $(wc -l <"$out/$step.ncu.csv") lines from ncu"
  done
fi

if wants activity; then
  map=$build/experiments/activity_map
  # over FILE ARGUMENTS...: every record of one call
  over() {
    "$map/activity_map" --steps 100 --warmup 1 "${@:2}" --json "$out/one.json" 2>>"$out/errors.log" ||
      fail "activity_map ${*:2}"
    [ -f "$out/one.json" ] && cat "$out/one.json" >>"$out/$1" && rm "$out/one.json"
  }
  "$map/activity_map_test" >"$out/activity_map.test.log" 2>&1 || fail "activity_map tests"
  rungs=baseline,block_256,rsqrt_of_cube,rsqrt,constant,columns_by_value,columns_by_pointers
  rungs=$rungs,columns_in_memory,read_only,read_only_in_memory,shared
  over activity.jsonl --rung $rungs,map_alone --bodies 1024,4096,10000,20000,50000 --map 10 --repeat 10
  over activity.jsonl --rung pairs_atomic --bodies 1024,4096,10000 --map 10 --repeat 3
  over activity.jsonl --rung pairs_matrix --bodies 1024,4096,10000,20000,50000 --map 10 --repeat 3
  over activity.jsonl --rung baseline,block_256,rsqrt,shared,normalise_once,touched_cells,map_alone \
    --bodies 1024 --map 1000,5000,10000,15000 --repeat 10
  for block in 32 64 128 512 1024; do
    over activity.jsonl --rung shared --block $block --bodies 1024,10000,50000 --map 10 --repeat 10
  done
  over activity.jsonl --rung shared --block 1024 --bodies 1024 --map 1000,15000 --repeat 10
fi

if wants multi; then
  for devices in 1 2 4 8; do
    [ "$(nvidia-smi -L | wc -l)" -ge $devices ] || continue
    for step in step08_multigpu experiments/variants/step08_one_enqueues step09_soa; do
      [ -x "$build/$step/${step##*/}" ] || continue
      record multi.jsonl "$step" --scenario galaxies --systems 256 --bodies 8192 --steps 20 \
        --devices $devices --warmup 1 --repeat 10 --timeline "$out/${step##*/}.$devices.timeline.csv"
    done
  done
  record multi.jsonl step07_overlap --scenario galaxies --systems 256 --bodies 8192 --steps 20 \
    --warmup 1 --repeat 10
fi
exit $failed
