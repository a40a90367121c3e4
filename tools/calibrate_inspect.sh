#!/usr/bin/env bash
# Counts with Nsight Compute what ./nbody inspect predicts: memory requests, sectors, wavefronts and
# bank conflicts of every access pattern and of the steps whose READMEs quote them. For a machine with
# a GPU and the programs of the cuda preset; needs nothing else. Run from the root of the repository:
#
#   tools/calibrate_inspect.sh BUILD OUT [NAME...]      without names: the patterns and the steps
#
# OUT gets NAME.ncu.csv for `patterns` and each step, NAME.sass with their memory instructions,
# device.txt and metrics.txt; tools/inspect_patterns.py joins them with the predictions. Exit code 1 if anything failed.
set -u
build=${1:?BUILD OUT}
out=${2:?BUILD OUT}
shift 2
names=${*:-patterns step01_gpu_naive step02_layout step03_tiling step08_multigpu
  step09_soa step10_tiled2d_cublas}
mkdir -p "$out" || exit 1
failed=0

# A chip that lacks one of these makes ncu refuse all of them, so those that it lists are asked for.
wanted='
l1tex__t_requests_pipe_lsu_mem_global_op_ld l1tex__t_sectors_pipe_lsu_mem_global_op_ld
l1tex__t_requests_pipe_lsu_mem_global_op_st l1tex__t_sectors_pipe_lsu_mem_global_op_st
l1tex__t_requests_pipe_lsu_mem_global_op_red l1tex__t_sectors_pipe_lsu_mem_global_op_red
l1tex__t_requests_pipe_lsu_mem_global_op_atom l1tex__t_sectors_pipe_lsu_mem_global_op_atom
smsp__sass_inst_executed_op_global_ld smsp__sass_inst_executed_op_global_st
smsp__sass_inst_executed_op_shared_ld smsp__sass_inst_executed_op_shared_st
smsp__inst_executed_op_shared_ld smsp__inst_executed_op_shared_st
l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st
l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld
l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st
smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ld
smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_st
smsp__sass_l1tex_data_bank_conflicts_pipe_lsu_mem_shared_op_ld
smsp__sass_l1tex_data_bank_conflicts_pipe_lsu_mem_shared_op_st
smsp__inst_executed'

if ! ncu --query-metrics >"$out/metrics.txt" 2>&1; then
  echo "ncu cannot list its metrics; see $out/metrics.txt" >&2
  exit 1
fi
metrics=
for name in $wanted; do
  if grep -qE "^$name[[:space:]]" "$out/metrics.txt"; then
    metrics+=${metrics:+,}$name.sum
  else
    echo "not on this chip: $name"
  fi
done
if [ -z "$metrics" ]; then
  echo "ncu lists none of the metrics; see $out/metrics.txt" >&2
  exit 1
fi

# count NAME PROGRAM ARGUMENTS...
count() {
  local name=$1
  shift
  if ncu --clock-control none --csv --page raw --print-units base --metrics "$metrics" \
    --log-file "$out/$name.ncu.csv" "$@" >"$out/$name.log" 2>&1; then
    echo "$name: $(grep -c '^"[0-9]' "$out/$name.ncu.csv") launches counted"
  else
    echo "FAILED: $name; see $out/$name.log and $out/$name.ncu.csv"
    failed=1
  fi
  # Which loads and stores nvcc merged, hoisted or widened: the usual cause of a difference.
  cuobjdump --dump-sass "$1" 2>>"$out/$name.log" |
    grep -oE 'Function : .*|(LDG|LDS|STG|STS|RED|ATOMG|ATOMS)(\.[A-Z0-9]+)* .*;' >"$out/$name.sass"
}

nvidia-smi --query-gpu=name,driver_version --format=csv,noheader | head -n 1 >"$out/device.txt"
ncu --version | tail -n 1 >>"$out/device.txt"
date -u +%Y-%m-%d >>"$out/device.txt"

for name in $names; do
  if [ "$name" = patterns ]; then
    count patterns "$build/hostcuda/trace/patterns/patterns"
  else
    # The problem of `./nbody inspect`'s defaults.
    count "$name" "$build/$name/$name" --scenario galaxies --systems 2 --bodies 1024 --steps 1 \
      --validate off --quiet
  fi
done
exit $failed
