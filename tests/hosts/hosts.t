#!/bin/sh
# Searches on several hosts, each with a network, names, shared memory and processes of its own,
# over TCP: results are those of one host, and counters are what the links carried. HW_HOSTS_SCALE=16
# takes larger graphs, HW_HOSTS_SLOW=4 four slow hosts.
# shellcheck disable=SC2016,SC2317 # shells of their own expand it; functions that ok calls
# shellcheck source=tests/tap/tap.sh
. "${top_srcdir:-.}/tests/tap/tap.sh"
# shellcheck source=tests/hosts/hosts.sh
. "$top_srcdir/tests/hosts/hosts.sh"
scale=${HW_HOSTS_SCALE:-10}
cd "$work" || exit 99
hosts_test 4

is "hosts have names of their own" "$(hosts_run 4 4 hostname | sort | xargs)" "h1 h2 h3 h4"
hosts_enter h1 touch /dev/shm/mine
is "and shared memory" "$(hosts_enter h2 ls /dev/shm)" ""

# ---- results ----

hopwave-generate -q --model rmat --scale "$scale" --weights integer:1:99 -o g.h5
hopwave-traverse -q g.h5 --algorithm bfs --layout 1d --roots 3 --canonical-parents -o bfs.h5
hopwave-traverse -q g.h5 --algorithm sssp --layout 1d --roots 3 --canonical-parents -o sssp.h5
ok "a generator on four hosts" hosts_run 4 4 hopwave-generate -q --model rmat --scale "$scale" \
    --weights integer:1:99 -o many.h5
same "makes the same graph" "$(digest many.h5)" "$(digest g.h5)"

limit=120 # seconds of a search
# try HOSTS RANKS ALGORITHM LAYOUT...: a search there has the trees of one host.
try() {
    try_hosts=$1 try_ranks=$2 try_algorithm=$3
    shift 3
    try_name="$try_algorithm $* on $try_hosts hosts, $try_ranks ranks"
    if timeout $limit sh -c '. "$top_srcdir/tests/hosts/hosts.sh" && hosts_run "$@"' sh "$try_hosts" \
        "$try_ranks" hopwave-traverse -q --force g.h5 --algorithm "$try_algorithm" "$@" --roots 3 \
        --canonical-parents -o t.h5 >log 2>&1; then
        ok "$try_name" "$H5DIFF" --exclude-path /run t.h5 "$try_algorithm.h5"
    else
        verdict 1 "$try_name"
        sed 's/^/# /' log | head -n 10
    fi
}

# all HOSTS RANKS ROWSxCOLUMNS: all layouts and methods of CPUs on several ranks.
all() {
    for method in auto grid; do
        try "$1" "$2" bfs --layout 1d --parts "$2" --method $method
        try "$1" "$2" bfs --layout 2d --grid "$3" --method $method
    done
    try "$1" "$2" bfs --layout degree-separated --parts "$2"
    for method in delta bellman-ford; do
        try "$1" "$2" sssp --layout 1d --parts "$2" --method $method
        try "$1" "$2" sssp --layout 2d --grid "$3" --method $method
        try "$1" "$2" sssp --layout degree-separated --parts "$2" --method $method
    done
}

# all_devices HOSTS RANKS ROWSxCOLUMNS: all methods of several GPUs, which MPI carries between hosts.
all_devices() {
    gpus="--device cuda --transport mpi"
    # shellcheck disable=SC2086 # two options
    for method in fused scan2d scatter-compact; do
        try "$1" "$2" bfs --layout 1d --parts "$2" --method $method $gpus
    done
    # shellcheck disable=SC2086
    try "$1" "$2" bfs --layout 2d --grid "$3" --method scan2d $gpus
    # shellcheck disable=SC2086
    try "$1" "$2" bfs --layout degree-separated --parts "$2" --method delegates $gpus
    # shellcheck disable=SC2086
    for method in delta bellman-ford; do
        try "$1" "$2" sssp --layout 1d --parts "$2" --method $method $gpus
        try "$1" "$2" sssp --layout 2d --grid "$3" --method $method $gpus
        try "$1" "$2" sssp --layout degree-separated --parts "$2" --method $method $gpus
    done
}
export top_srcdir MPIEXEC H5DIFF
all 2 2 1x2
all 2 4 2x2
all 4 4 2x2
if hopwave-traverse --version | grep -q 'emulated devices'; then
    all_devices 2 4 2x2
    all_devices 4 4 2x2
else
    skip "GPUs on several hosts" "there are no emulated ones (--with-cuda=emulated)"
fi

# ---- a network that is slow and loses packets ----

# One millisecond each way, one frame of a thousand lost.
slow=${HW_HOSTS_SLOW:-2}
for n in $(seq "$slow"); do
    hosts_relay "$n" 0.001 0.001 || verdict 1 "the link of host $n is made slow"
done
limit=600
case $slow in
2) all 2 2 1x2 ;;
*) all "$slow" 4 2x2 ;;
esac
limit=120
frames=$(for n in $(seq "$slow"); do hosts_relayed "$n"; done | awk '{ c += $1; l += $2 } END { print c, l }')
echo "# frames carried and lost: $frames"
for n in $(seq "$slow"); do hosts_relay_end "$n"; done
ok "frames were carried late, and lost" test "${frames% *}" -gt 1000 -a "${frames#* }" -gt 0

# ---- counters ----

python=$(python_with h5py) || python=

# sent ROOTS LAYOUT...: searches of so many roots; prints what four hosts have sent through their
# links, and what the searches count as sent to other nodes.
sent() {
    sent_roots=$1 sent_before=0 sent_after=0
    shift
    for sent_n in 1 2 3 4; do sent_before=$((sent_before + $(hosts_sent $sent_n))); done
    hosts_run 4 4 hopwave-traverse -q --force g.h5 --algorithm bfs "$@" --roots "$sent_roots" \
        --store none -o t.h5 >log 2>&1 || return
    for sent_n in 1 2 3 4; do sent_after=$((sent_after + $(hosts_sent $sent_n))); done
    "$python" -c '
import h5py, sys
print(sys.argv[1], h5py.File("t.h5")["run/steps"]["internode_bytes"].sum())' \
        $((sent_after - sent_before))
}

# counted LAYOUT...: what more searches send, in the counters and through the links. Links carry
# headers, acknowledgements and the barriers beside: each message at least one packet of 66 bytes
# and more, so that searches of many small messages send a multiple of what they count.
counted() {
    few=$(sent 2 "$@") many=$(sent 18 "$@")
    # shellcheck disable=SC2086 # two words each
    set -- "$*" $few $many
    if [ $# -ne 5 ]; then
        verdict 1 "$1: searches are counted"
        sed 's/^/# /' log | head -n 10
        return
    fi
    link=$(($4 - $2)) counters=$(($5 - $3))
    echo "# $1: 16 searches count $counters bytes, the links carried $link"
    ok "$1: links carry what is counted, and overhead" \
        test "$counters" -gt 0 -a "$link" -ge "$counters" -a "$link" -le $((counters * most / 100))
}
hopwave-generate -q --force --model rmat --scale $((scale + 4)) -o g.h5
if [ -n "$python" ]; then
    most=${HW_HOSTS_OVERHEAD:-500}
    counted --layout 1d --parts 4
    counted --layout 2d --grid 2x2
    counted --layout degree-separated --parts 4
else
    skip "counters" "no Python has h5py"
fi
done_testing
