#!/bin/sh
# Disks that fill, folders that cannot be written, memory that is too small,
# outputs that exist, ranks that die: the right status, one sentence, and no
# file under the final name.
# shellcheck source=tests/tap/tap.sh
. "${top_srcdir:-.}/tests/tap/tap.sh"

generate="hopwave-generate --model rmat --edge-factor 8 --quiet"
small=$work/small.h5
parts=$work/parts.h5

# absent NAME FILE: neither the file nor a temporary of it is there.
absent() {
    ls -A "$(dirname "$2")" >"$work/left" 2>/dev/null
    if grep -q -F "$(basename "$2")" "$work/left"; then
        verdict 1 "$1"
        sed 's/^/# left: /' "$work/left"
    else
        verdict 0 "$1"
    fi
}

# shellcheck disable=SC2086
{
    ok "a small graph" $generate --scale 8 -o "$small"
    ok "a partition of it" ranks 2 hopwave-partition "$small" --layout 1d --parts 2 --quiet -o "$parts"
    ok "a tree of it" ranks 2 hopwave-traverse "$parts" --algorithm bfs --roots 2 --quiet -o "$work/tree.h5"
}

# Full disk, on a file system of its own.
full=$work/full
mkdir "$full"
if mount -t tmpfs -o size=1M tmpfs "$full" 2>/dev/null; then
    trap 'umount "$work"/full "$work"/ro 2>/dev/null; chmod -R u+w "$work"; rm -rf "$work"' EXIT
    for n in 1 2; do
        # shellcheck disable=SC2086
        refused "generate on a full disk, $n ranks" 4 'space|full|disk' \
            "$MPIEXEC" -n "$n" $generate --scale 16 -o "$full/g.h5"
        absent "leaves nothing there, $n ranks" "$full/g.h5"
    done
    # shellcheck disable=SC2086
    $generate --scale 15 -o "$work/mid.h5"
    refused "partition on a full disk" 4 'space|full|disk' \
        "$MPIEXEC" -n 2 hopwave-partition "$work/mid.h5" --layout 2d --grid 1x2 -o "$full/p.h5" --quiet
    absent "leaves nothing there" "$full/p.h5"
    hopwave-partition "$work/mid.h5" --layout 1d --parts 1 --quiet -o "$work/mid-parts.h5"
    refused "traverse on a full disk" 4 'space|full|disk' \
        hopwave-traverse "$work/mid-parts.h5" --algorithm bfs --roots 8 -o "$full/t.h5" --quiet
    absent "leaves nothing there" "$full/t.h5"
    mkdir "$work/ro"
    if mount -t tmpfs -o ro tmpfs "$work/ro" 2>/dev/null; then
        # shellcheck disable=SC2086
        refused "a read-only folder" 4 'ead-only|written|create' $generate --scale 8 -o "$work/ro/g.h5"
    fi
else
    skip "full disk" "a file system of one's own needs root"
fi

# shellcheck disable=SC2086
{
    refused "a folder that is not there" 4 'none/g.h5' $generate --scale 8 -o "$work/none/g.h5"
    refused "a folder as the output" 4 "" $generate --scale 8 -o "$work"
}

# Existing outputs are refused before any work and stay as they were.
sum=$(cksum <"$small")
# shellcheck disable=SC2086
refused "generate over an existing file" 2 'exists|force' "$MPIEXEC" -n 2 $generate --scale 8 -o "$small"
is "which stays as it was" "$(cksum <"$small")" "$sum"
refused "partition over an existing file" 2 'exists|force' \
    "$MPIEXEC" -n 2 hopwave-partition "$small" --layout 1d --parts 2 -o "$parts" --quiet
refused "traverse over an existing file" 2 'exists|force' \
    "$MPIEXEC" -n 2 hopwave-traverse "$parts" --algorithm bfs --roots 1 -o "$work/tree.h5" --quiet
# shellcheck disable=SC2086
ok "--force replaces it" $generate --scale 8 --seed 9 --force -o "$small.again"

# Too little memory is said with the figure, before it is taken.
HOPWAVE_MEMORY=2K
export HOPWAVE_MEMORY
for n in 1 2; do
    refused "partition without memory, $n ranks" 4 'needs .* are free' \
        "$MPIEXEC" -n "$n" hopwave-partition "$small" --layout 1d --parts 2 -o "$work/x.h5" --quiet
    absent "leaves nothing, $n ranks" "$work/x.h5"
done
refused "traverse without memory" 4 'needs .* are free' \
    "$MPIEXEC" -n 2 hopwave-traverse "$parts" --algorithm bfs --roots 1 -o "$work/x.h5" --quiet
refused "validate without memory" 4 'needs .* are free' \
    "$MPIEXEC" -n 2 hopwave-validate "$work/tree.h5" --graph "$small" --quiet
unset HOPWAVE_MEMORY

# A rank that is killed takes the others along and leaves no file.
# shellcheck disable=SC2086
ranks 2 $generate --scale 24 -o "$work/killed.h5" >/dev/null 2>&1 &
launcher=$!
for _ in $(seq 100); do
    [ -n "$(find "$work" -name '*killed.h5*')" ] && break
    sleep 0.05
done
pkill -KILL -n -f "^hopwave-generate.*$work/killed.h5"
wait "$launcher"
status=$?
[ "$status" -ne 0 ]
verdict $? "a killed rank is a failure"
[ ! -e "$work/killed.h5" ]
verdict $? "and leaves no file under the final name"
# shellcheck disable=SC2086
ok "the next run takes the place of what it left" $generate --scale 5 -o "$work/killed.h5"
is "and leaves its file alone" "$(find "$work" -name '*killed.h5*')" "$work/killed.h5"

# A signal that ends a program leaves nothing at all.
# shellcheck disable=SC2086
$generate --scale 24 -o "$work/ended.h5" >/dev/null 2>&1 &
program=$!
for _ in $(seq 100); do
    [ -n "$(find "$work" -name '.ended.h5*')" ] && break
    sleep 0.05
done
kill -TERM "$program"
wait "$program"
is "SIGTERM ends a program with status 4" $? 4
is "and leaves nothing" "$(find "$work" -name '*ended.h5*')" ""
# Background jobs of a script ignore SIGINT; those of timeout do not.
# shellcheck disable=SC2086
timeout --preserve-status -s INT 2 $generate --scale 24 -o "$work/ended.h5" 2>"$work/err"
is "so does SIGINT" "$?" 4
is "with a sentence" "$(cat "$work/err")" "hopwave-generate: stopped by SIGINT"
is "and leaves nothing" "$(find "$work" -name '*ended.h5*')" ""

# What is found before years of work.
ok "a recipe of 2^50 edges" hopwave-generate --model rmat --scale 40 --edge-factor 1024 --recipe \
    --quiet -o "$work/vast.h5"
for format in packed mtx; do
    refused "exporting it as $format" 4 'the disk is too full' \
        hopwave-export "$work/vast.h5" --format $format --quiet -o "$work/vast.$format"
    absent "leaves nothing" "$work/vast.$format"
done
refused "validating a small tree against it" 3 'made from an undirected graph of 256 vertices' \
    hopwave-validate "$work/tree.h5" --graph "$work/vast.h5" --quiet

# What no output may replace, and what is no number of bytes or threads.
refused "the input as the output" 2 'is an input' \
    hopwave-partition "$small" --layout 1d --parts 2 --quiet --force --output="$work/./small.h5"
refused "a graph to validate against as the output" 2 'is an input' \
    hopwave-validate "$work/tree.h5" --graph "$small" --quiet --force --out="$small"
(
    cd "$work" || exit 1
    hopwave-generate --model rmat --scale 4 --quiet -o rmat &&
        hopwave-generate --model rmat --scale 4 --quiet --force --outp=rmat
) 2>"$work/err"
is "an option's value that is the output's name too is no input" "$? $(cat "$work/err")" "0 "
mkfifo "$work/pipe"
# shellcheck disable=SC2086
refused "a pipe as the output" 4 'is no plain file' $generate --scale 5 --force -o "$work/pipe"
refused "a pipe as an exported file" 4 'is no plain file' \
    hopwave-export "$small" --format el --force -o "$work/pipe" --quiet
ok "which stays a pipe" test -p "$work/pipe"
refused "memory that is no number" 2 "'4GB' is not a number" \
    env HOPWAVE_MEMORY=4GB hopwave-info "$small"
refused "more threads than OpenMP takes" 2 'OMP_NUM_THREADS: 100000 is outside' \
    env OMP_NUM_THREADS=100000 "$MPIEXEC" -n 2 hopwave-info "$small"
if [ -c /dev/full ]; then
    # shellcheck disable=SC2016 # the inner shell expands it
    refused "standard output on a full disk" 4 'standard output cannot be written' \
        sh -c 'hopwave-info "$0" >/dev/full' "$small"
else
    skip "standard output on a full disk" "there is no /dev/full"
fi

done_testing
