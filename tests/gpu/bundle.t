#!/bin/sh
# The bundle: unpacked anywhere, with nothing set, it runs a study from end to end.
# shellcheck disable=SC1091,SC2086 # options are lists of words
. "${top_srcdir:-.}/tests/tap/tap.sh"
cd "${work:?}" || exit 99

if [ -n "${HW_SANITIZER:-}" ]; then
    skip "a bundle" "sanitizers need their own libraries"
    done_testing
    exit 0
fi
if ! command -v mpiexec.hydra >/dev/null || ! command -v hydra_pmi_proxy >/dev/null; then
    skip "a bundle" "only MPICH's launcher can be packed"
    done_testing
    exit 0
fi
programs="hopwave-generate hopwave-partition hopwave-traverse hopwave-validate hopwave-info"
XZ_OPT="-T2 --lzma2=preset=1,dict=128MiB"
export XZ_OPT
ok "is made" sh "$top_srcdir/bench/make-bundle" "${top_builddir:?}" "${top_srcdir:?}" b.tar.xz $programs
mkdir "other place" && tar -C "other place" -xJf b.tar.xz
b="$work/other place/hopwave-bundle/bin"

# alone COMMAND...: with an empty environment.
alone() {
    env -i PATH=/usr/bin:/bin "$@"
}
ok "generates" alone "$b/hopwave-generate" -q --model rmat --scale 8 -o g.h5
ok "lays out on two ranks" alone "$b/mpiexec" -n 2 "$b/hopwave-partition" -q g.h5 --layout 2d \
    --grid 1x2 -o p.h5
ok "traverses on two ranks" alone "$b/mpiexec" -n 2 "$b/hopwave-traverse" -q p.h5 --roots 4 -o t.h5
ok "validates" alone "$b/hopwave-validate" -q t.h5 --graph g.h5
ok "and takes no library but glibc's from here" test -z "$(
    for program in $programs; do
        LD_LIBRARY_PATH="$b/../lib" ldd "$b/../libexec/$program"
    done | awk '$2 == "=>" { print $3 }' | grep -v "$work" |
        grep -v -E '/(libc|libm|libdl|libpthread|librt|libresolv|libutil|libanl)\.so'
)"
alone "$b/../tests/gpu/run" device.t >run.out 2>&1
ok "its tests of GPUs run, or say that there is none" grep -q -E '^all |there is no GPU here' run.out
done_testing
