#!/bin/bash
# Runs step 14 once on all GPUs of the job's nodes, under Flux. Submit it from the repository's folder:
#   flux batch --nodes=2 --nslots=8 tools/flux/run.flux --scenario plummer --bodies 4194304 --steps 100
# It leaves nbody-JOB.bin. A later job continues the problem from this file, also on another number of
# nodes:
#   CHECKPOINT=nbody-f1234.bin flux batch --nodes=1 --nslots=4 tools/flux/run.flux --scenario plummer ...
# Flux does not restart a job by itself. After a node failure, submit the job with CHECKPOINT as above.
# Not tried on a real Flux; the tests run it with stubs in place of flux.
#
#FLUX: --job-name=nbody
# A slot is for one rank: one process with one GPU, and cores for its validation and packing.
#FLUX: --cores-per-slot=8
#FLUX: --gpus-per-slot=1
#FLUX: --time-limit=1h
#FLUX: --output=nbody-{{id}}.out

# The first failure ends the script, and the job counts as failed.
set -euo pipefail
# The program; PROGRAM=... flux batch selects another one.
PROGRAM=${PROGRAM:-build/cuda/step14_cluster/step14_cluster}
# Two jobs in one folder have different numbers.
CHECKPOINT=${CHECKPOINT:-nbody-$FLUX_ENCLOSING_ID.bin}
# One rank per GPU.
NBODY_RANKS=${NBODY_RANKS:-$(flux resource list --states=free --no-header --format='{ngpus}')}
# Every rank compares NBODY_RANKS with MPI's number of ranks.
export NBODY_RANKS OMP_NUM_THREADS="${OMP_NUM_THREADS:-8}"
# pmix: the interface through which Flux (with flux-pmix) starts Open MPI's ranks. A rank sees one GPU, and
# stays on its own cores.
exec flux run --ntasks="$NBODY_RANKS" --cores-per-task="$OMP_NUM_THREADS" --gpus-per-task=1 \
  -o pmi=pmix -o cpu-affinity=per-task -o gpu-affinity=per-task \
  "$PROGRAM" --checkpoint "$CHECKPOINT" "$@"
