#!/bin/bash
# One run of step 14 on all GPUs of the nodes it gets, under Flux. Submitted from the repository's folder:
#   flux batch --nodes=2 --nslots=8 tools/flux/run.flux --scenario plummer --bodies 4194304 --steps 100
# It leaves nbody-JOB.bin, from which a later job continues the same problem, on as many nodes as there
# are then:
#   CHECKPOINT=nbody-f1234.bin flux batch --nodes=1 --nslots=4 tools/flux/run.flux --scenario plummer ...
# Flux does not start a job again by itself: after a node failed, submit it with CHECKPOINT as above.
# Not tried on a real Flux; the tests run it with stubs in place of flux.
#
#FLUX: --job-name=nbody
# A slot is for one rank: one process with one GPU, and cores for its validation and packing.
#FLUX: --cores-per-slot=8
#FLUX: --gpus-per-slot=1
#FLUX: --time-limit=1h
#FLUX: --output=nbody-{{id}}.out

# The first failure ends the script, and the job is a failed one.
set -euo pipefail
# The program; another one is named by PROGRAM=... flux batch.
PROGRAM=${PROGRAM:-build/cuda/step14_cluster/step14_cluster}
# Two jobs in one folder have different numbers.
CHECKPOINT=${CHECKPOINT:-nbody-$FLUX_ENCLOSING_ID.bin}
# A rank for every GPU.
NBODY_RANKS=${NBODY_RANKS:-$(flux resource list --states=free --no-header --format='{ngpus}')}
# Every rank compares it with the number that MPI knows.
export NBODY_RANKS OMP_NUM_THREADS="${OMP_NUM_THREADS:-8}"
# pmix: how Flux (with flux-pmix) and Open MPI know each other. A rank sees one GPU, and keeps to its cores.
exec flux run --ntasks="$NBODY_RANKS" --cores-per-task="$OMP_NUM_THREADS" --gpus-per-task=1 \
  -o pmi=pmix -o cpu-affinity=per-task -o gpu-affinity=per-task \
  "$PROGRAM" --checkpoint "$CHECKPOINT" "$@"
