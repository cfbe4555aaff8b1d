#!/bin/sh
# Disks that are full, or become so, while a file is written: one sentence, exit
# status 4, no file and no rank left behind.
# shellcheck source=tests/tap/tap.sh
. "$top_srcdir/tests/tap/tap.sh"
make_file=$top_builddir/tests/faults/make_file
OMP_NUM_THREADS=1
export OMP_NUM_THREADS

# left FOLDER: what lies there, hidden files too.
left() {
    find "$1" -mindepth 1
}

mkdir "$work/out"

# Two datasets of 1.2 MB, then some 4 KB of metadata: the disk may run full in
# any of them, or at the file's very beginning.
for room in 0 60 1000000 2300000 2400100 2401500 2403000; do
    refused "a disk that takes $room bytes is full" 4 'g.h5: .*No space left on device$' \
        "$make_file" 300000 -o "$work/out/g.h5" --room "$room"
    is "and nothing is left" "$(left "$work/out")" ""
done
for room in 0 60 900000; do
    refused "a disk that takes $room bytes from each rank is full" 4 'No space left on device$' \
        "$MPIEXEC" -n 2 "$make_file" 300000 -o "$work/out/g.h5" --room "$room"
    is "and nothing is left" "$(left "$work/out")" ""
done
# Writes that were lost after they had been taken: by ranks' data, and by what rank 0 adds.
for n in 1 2; do
    for lost in 1 2; do
        refused "a disk that says at sync $lost that it lost data, $n ranks" 4 \
            'g.h5: .*(cannot be synced|[Ii]nput/output error)' \
            "$MPIEXEC" -n "$n" "$make_file" 1000 -o "$work/out/g.h5" --lost "$lost"
        is "and nothing is left" "$(left "$work/out")" ""
    done
done
ok "a disk with room enough takes the file" \
    ranks 2 "$make_file" 300000 -o "$work/out/g.h5" --room 3000000
ok "which can be read" ranks 2 "$make_file" --estimate --read "$work/out/g.h5"
rm "$work/out/g.h5"

# In blocks of 512 bytes; MPI itself needs files of some size.
# shellcheck disable=SC2016
refused "a limit on the size of files is found before any work" 4 'limit on file sizes' \
    sh -c 'ulimit -f 200000 && exec "$0" "$@"' "$make_file" 20000000 -o "$work/out/g.h5"
is "and nothing is left" "$(left "$work/out")" ""

# What a loss of power leaves: a name stands for a file whose bytes are on the disk already, and is
# itself there when the program ends.
hopwave-generate --model rmat --scale 6 --quiet -o "$work/graph.h5"
hopwave-partition "$work/graph.h5" --layout 1d --parts 1 --quiet -o "$work/parts.h5"
hopwave-traverse "$work/parts.h5" --algorithm bfs --roots 2 --quiet -o "$work/tree.h5"
# writes COMMAND: the command that writes a file of each kind.
writes() {
    case $1 in
    make_file) echo "$make_file 1000" ;;
    export) echo "hopwave-export $work/graph.h5 --format mtx --quiet" ;;
    traverse) echo "hopwave-traverse $work/parts.h5 --algorithm bfs --roots 2 --quiet" ;;
    validate) echo "hopwave-validate $work/tree.h5 --graph $work/graph.h5 --quiet" ;;
    esac
}
# shellcheck disable=SC2046
if command -v strace >/dev/null && strace -o /dev/null true 2>/dev/null; then
    for program in make_file export traverse validate; do
        strace -f -qq -y -e trace=fsync,rename,renameat,renameat2 -o "$work/trace" \
            $(writes $program) -o "$work/out/g.h5" >/dev/null
        steps=$(sed -n -e 's/.* fsync([0-9]*<.*\(tmp-\|partial\).*/data/p' \
            -e 's/.* rename[a-z0-9]*(.*/name/p' -e 's/.* fsync([0-9]*<.*\/out>.*/folder/p' \
            "$work/trace" | uniq | tr '\n' ' ')
        is "$program: the data are synced, then named, then the folder is synced" "$steps" \
            "data name folder "
        rm "$work/out/g.h5"
    done
else
    skip "what is synced" "there is no strace, or it may not trace"
fi

# File systems that say so late: at the sync of the folder, after the file has its name; when a file
# is closed, as NFS does; or when it gets its name.
# broken NAME CALL ERROR AT PATTERN PROGRAM: it fails where that call does.
broken() {
    # shellcheck disable=SC2046
    refused "$6: $1" 4 "$5" env LD_PRELOAD="$library" HW_BROKEN_FOLDER="$(cd "$work/out" && pwd -P)" \
        HW_BROKEN_CALL="$2" HW_BROKEN_ERROR="$3" HW_BROKEN_AT="$4" $(writes "$6") -o "$work/out/g.h5"
    is "and nothing is left" "$(left "$work/out" | grep -v -e '\.partial$' -e '\.partial\.searches$')" ""
    rm -f "$work/out/"*
}
library=$(cd "$top_builddir" && pwd)/tests/faults/libbroken-disk.so
if [ -n "$HW_SANITIZER" ]; then
    skip "disks that fail late" "sanitizers must come before anything preloaded"
else
    for program in export traverse validate; do
        last=3
        [ $program != export ] || last=2
        broken "a folder that cannot be synced" sync EIO $last 'cannot sync .*: Input/output error$' $program
        broken "a quota that is found exceeded late" close EDQUOT 1 'quota' $program
        broken "a name that is not given" name EIO 1 'cannot be given its name: ' $program
        broken "a disk that is full" write ENOSPC 1 'No space left on device$' $program
    done
fi

# A real disk that is too small, where we may mount one.
mkdir "$work/disk"
cat >"$work/on_disk" <<'END'
mount -t tmpfs -o size=4m "$1" "$2" && mount -o remount,"$1" "$2" || exit 99
shift 2
exec "$@"
END
if unshare -m mount -t tmpfs tmpfs "$work/disk" 2>/dev/null; then
    refused "a small disk is found too full before any work" 4 'the disk is too full: .* MB needed' \
        unshare -m sh "$work/on_disk" rw "$work/disk" \
        "$MPIEXEC" -n 2 "$make_file" 1000000 -o "$work/disk/g.h5"
    ok "and takes what fits" unshare -m sh "$work/on_disk" rw "$work/disk" \
        "$MPIEXEC" -n 2 "$make_file" 200000 -o "$work/disk/g.h5"
    refused "a disk that takes no writing is refused" 4 'Read-only file system' \
        unshare -m sh "$work/on_disk" ro "$work/disk" \
        "$MPIEXEC" -n 2 "$make_file" 10 -o "$work/disk/g.h5"
else
    skip "a small disk" "no disk may be mounted here"
fi
done_testing
