#!/bin/sh
# Every parser and every target of the fuzzer for a second, from the corpus on: no crash, nothing
# that sanitizers find, no answer that contradicts another. `make fuzz` goes on for longer.
# shellcheck source=tests/tap/tap.sh
. "${top_srcdir:-.}/tests/tap/tap.sh"
seconds=1
cd "$work" || exit 99
echo 'int LLVMFuzzerTestOneInput(const char *d, unsigned long n) { return d && n > 99999999; }' >one.c
clang=$(sed -n "s/^FUZZ_CC = //p" "$top_builddir/Makefile")
if [ -z "$clang" ] || ! $clang -fsanitize=fuzzer,address,undefined one.c -o one >clang.log 2>&1; then
    echo "1..0 # SKIP no clang with libFuzzer (clang, libclang-rt-dev)"
    exit 0
fi
if ! ASAN_OPTIONS=detect_leaks=1 ./one -runs=1 >one.log 2>&1; then
    echo "1..0 # SKIP programs with sanitizers do not run here"
    exit 0
fi
ok "the targets are built" env MAKEFLAGS= make -C "$top_builddir" fuzz-programs
targets=$(sed -n 's/^FUZZ_\(FORMATS\|FUNCTIONS\) = //p' "$top_builddir/Makefile")
for target in $targets; do
    mkdir "found-$target"
    ok "$target" env ASAN_OPTIONS=detect_leaks=1 "$top_builddir/fuzz/$target" \
        -max_total_time=$seconds -timeout=30 -rss_limit_mb=4096 -artifact_prefix="$work/$target-" \
        "found-$target" "$top_srcdir/tests/fuzz/corpus/$target"
    echo "# $target: $(sed -n 's/^Done \(.*\)/\1/p' "$work/tap.out")"
done
done_testing
