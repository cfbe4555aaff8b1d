# shellcheck shell=sh disable=SC1091 # the file beside this one
# TAP for shell tests of searches on GPUs: source it in place of tap.sh. Ranks share GPUs
# where there are fewer. The tests go on in a folder of their own.
. "${top_srcdir:-.}/tests/tap/tap.sh"
cd "${work:?}" || exit 99

# Whether devices are emulated.
is_emulated() {
    hopwave-info --version | grep -q emulated
}

# Prints how many GPUs searches see.
gpus() {
    if [ -n "${CUDA_VISIBLE_DEVICES-}" ]; then
        echo "$CUDA_VISIBLE_DEVICES" | tr , '\n' | wc -l
    elif is_emulated; then
        echo "${HW_EMULATED_DEVICES:-4}"
    else
        nvidia-smi -L | wc -l
    fi
}

# needs_gpu WHAT RANKS GRAPH OPTIONS...: a first search, to first.h5. Where this machine or
# build cannot make one, that must be said in the right words, and the test ends here: WHAT is
# skipped.
needs_gpu() {
    tap_what=$1 tap_ranks=$2 tap_graph=$3
    shift 3
    ranks "$tap_ranks" hopwave-traverse -q "$tap_graph" --device cuda --roots 2 --store none "$@" \
        -o first.h5 2>err
    case $? in
    0)
        ok "a first search" true
        return
        ;;
    *)
        if grep -q 'this build has no CUDA' err; then
            skip "$tap_what" "built without CUDA"
            done_testing
        fi
        ok "no device is said so" grep -q 'there is no CUDA device' err
        skip "$tap_what" "there is no GPU here"
        ;;
    esac
    done_testing
}

# like_cpu NAME RANKS GRAPH OPTIONS...: a search, to gpu.h5, that is valid and has the levels or
# distances of cpu.h5.
like_cpu() {
    tap_what=$1 tap_ranks=$2 tap_graph=$3
    shift 3
    ok "$tap_what" ranks "$tap_ranks" hopwave-traverse -q --force "$tap_graph" --device cuda "$@" \
        -o gpu.h5
    ok "validates, like the CPU's" hopwave-validate -q --force gpu.h5 --graph "$tap_graph" \
        --against cpu.h5
}

# same_parents: those of gpu.h5 are those of cpu.h5, where both are canonical.
same_parents() {
    same "with the CPU's canonical parents" "$(hopwave-info gpu.h5 | grep /parent:)" \
        "$(hopwave-info cpu.h5 | grep /parent:)"
}

# odd_graph LENGTH: makes odd.h5: a path of so many edges, three stars, edges that stand twice, a
# loop, and many vertices without edges.
odd_graph() {
    awk -v edges="$1" 'BEGIN {
        for (v = 0; v < edges; v++) print v, v + 1
        for (hub = 0; hub < 3; hub++) for (k = 0; k < 200; k++) {
            print 2100 + hub, 2200 + 3 * k + hub
            print 2100 + hub, k % int(2 * edges / 3)
        }
        print "5 5\n4000 4000" }' >odd.txt
    hopwave-import -q --format edges --undirected odd.txt -o odd.h5
}

# steps NAME FILE...: holds where the Python on standard input accepts the steps of these files, t,
# without those of parents.
steps() {
    tap_what=$1
    shift
    tap_python=$(python_with h5py) || {
        skip "$tap_what" "no Python has h5py"
        return
    }
    ok "$tap_what" "$tap_python" -c 'import sys, h5py
def steps(name):
    r = h5py.File(name)["run/steps"][:]
    return r[r["routine"] != b"parents"]
t = [steps(name) for name in sys.argv[2:]]
exec(sys.argv[1])' "$(cat)" "$@"
}

# put_faults COMMAND...: three faults of kernels that put, which emulated devices can make, are found:
# the command, a search over NVSHMEM whose results it compares, and whose messages go to err, fails
# for one of some orders of deliveries. Whether an order shows a fault depends on when threads run,
# too; most are found by the first or second.
put_faults() {
    export HW_EMULATED_NVSHMEM_FAULT=0 HW_EMULATED_NVSHMEM_SEED HW_EMULATED_NVSHMEM_DELAY=1000
    for tap_fault in "no quiet() before send buffers are filled again" "no wait for the signal of a put" \
        "a signal that does not wait for its bytes"; do
        HW_EMULATED_NVSHMEM_FAULT=$((HW_EMULATED_NVSHMEM_FAULT + 1)) tap_found=false
        for HW_EMULATED_NVSHMEM_SEED in $(seq 16); do
            "$@" || { tap_found=true && break; }
        done
        ok "$tap_fault is found" $tap_found
        [ $HW_EMULATED_NVSHMEM_FAULT != 1 ] ||
            ok "by its bytes" grep -q 'that a put sends .* changed before quiet' err
    done
    unset HW_EMULATED_NVSHMEM_FAULT
}
