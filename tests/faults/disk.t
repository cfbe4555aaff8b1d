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
if command -v strace >/dev/null && strace -o /dev/null true 2>/dev/null; then
    strace -f -qq -y -e trace=fsync,rename,renameat,renameat2 -o "$work/trace" \
        "$make_file" 1000 -o "$work/out/g.h5"
    steps=$(sed -n -e 's/.* fsync([0-9]*<.*tmp-.*/data/p' -e 's/.* rename[a-z0-9]*(.*/name/p' \
        -e 's/.* fsync([0-9]*<.*\/out>.*/folder/p' "$work/trace" | uniq | tr '\n' ' ')
    is "the data are synced, then named, then the folder is synced" "$steps" "data name folder "
    rm "$work/out/g.h5"
else
    skip "what is synced" "there is no strace, or it may not trace"
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
