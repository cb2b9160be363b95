#!/usr/bin/env bash
# Many GPUs of one machine against one GPU and the CPU, bit for bit: random configurations on two to four ranks, files, restarts,
# signals, ranks that are killed and that hang, and large runs on 1, 2, 4, ... GPUs, which are timed; then memcheck of ranks
# that divide the domain anew at every sort. Run in the folder that
# `make bundle` made. The parts run one after the other, because ranks that share a GPU with other programs wait for each other.
set -u
cd "$(dirname "$0")"
export LARMOR_TESTS=$PWD OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
gpus=$(nvidia-smi --list-gpus | wc -l)
ranks="mpirun --bind-to none -n $gpus"
status=0
part() {
    local begin=$SECONDS
    "$@" || { status=1; echo "FAILED: $*"; }
    echo "== $((SECONDS - begin)) s: $*"
}
./larmor --version
nvidia-smi topo -m
part $ranks ./larmor bench scale --cells 2048 --ppc 64 --json scale.json
part mpirun --oversubscribe --bind-to none -n 4 ./random --cases cases/random --ways gpu-ranks --no-shrink
part mpirun --oversubscribe --bind-to none -n 4 ./random --count 20 --ways gpu-ranks --keep different
part python3 ranks.py --larmor "$PWD/larmor" --random "$PWD/random" --backend cuda --kills 20 --configurations 0
# NCCL asks for kernels that it has not for each GPU: such calls would count as errors.
part mpirun --oversubscribe --bind-to none -n 4 compute-sanitizer --tool memcheck --report-api-errors no --error-exitcode 1 ./random --count 3 --ways gpu-ranks-disturbed --no-shrink
exit $status
