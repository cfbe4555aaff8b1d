#!/bin/sh
# The source tree keeps its layers, its headers and its sizes; and the script that says so finds
# each kind of violation in a small tree that has it.
# shellcheck source=tests/tap/tap.sh
. "$top_srcdir/tests/tap/tap.sh"
check=$top_srcdir/tests/tree/check-tree.py
CC=$MPICC
export CC HW_CPPFLAGS

# What is wrong with the tree at hand.
if command -v c++ >/dev/null && [ "$(uname -m)" = x86_64 ]; then
    ok "the tree keeps its rules" "$PYTHON3" "$check" "$top_srcdir"
else
    ok "the tree keeps its rules (headers not compiled)" "$PYTHON3" "$check" --no-compile "$top_srcdir"
fi

# A small tree that keeps them.
mkdir -p "$work/good/lib/base" "$work/good/lib/comm" "$work/good/gpu/emulated"
cp -R "$top_srcdir/gpu/emulated/include" "$top_srcdir"/gpu/emulated/*.h "$work/good/gpu/emulated"
cat >"$work/good/lib/base/low.h" <<END
#ifndef LOW_H
#define LOW_H
struct low {
    int x;
};
#endif
END
cat >"$work/good/lib/comm/high.h" <<END
#ifndef HIGH_H
#define HIGH_H
#include "lib/base/low.h"
struct high {
    struct low low;
};
#endif
END
is "a small tree keeps them" "$("$PYTHON3" "$check" "$work/good")" ""

# broken NAME PATTERN FILE: a copy of the small tree with standard input as one more file breaks a
# rule: the script names the file and fails.
broken() {
    rm -rf "$work/tree"
    cp -R "$work/good" "$work/tree"
    mkdir -p "$work/tree/$(dirname "$3")"
    cat >"$work/tree/$3"
    said=$("$PYTHON3" "$check" "$work/tree")
    status=$?
    [ $status -eq 1 ] && echo "$said" | grep -q -E "$2"
    verdict $? "$1"
    [ $status -eq 1 ] || echo "# status $status: $said"
}

broken "a test that cannot be run" '^tests/pipeline/new.t: is not executable' tests/pipeline/new.t <<END
#!/bin/sh
END
broken "an include that goes up" '^lib/base/up.c:1: "lib/comm/high.h" is not below' \
    lib/base/up.c <<END
#include "lib/comm/high.h"
END
broken "an include that is not named from the top" '^lib/base/short.c:1: .* from the top' \
    lib/base/short.c <<END
#include "low.h"
END
broken "an include behind a declaration" '^lib/base/middle.c:2: .* after the first declaration' \
    lib/base/middle.c <<END
static int x;
#include "lib/base/low.h"
END
broken "an include of CUDA in lib/" '^lib/base/device.c:1: cuda belongs to gpu/' \
    lib/base/device.c <<END
#include <cuda_runtime.h>
END
broken "a function for devices in lib/" '^lib/base/device.c:2: __device__ belongs to gpu/' \
    lib/base/device.c <<END
static const char *word = "cuda"; /* as users type it */
__device__ int on_device(void);
END
broken "a comment on CUDA in lib/" '^lib/base/device.c:1: CUDA belongs to gpu/' \
    lib/base/device.c <<END
/* Replaced where CUDA is there. */
END
broken "a header that needs another before it" '^lib/comm/needy.h:1: does not compile' \
    lib/comm/needy.h <<END
struct other { struct low low; };
END
broken "a second header of one name" '^lib/comm/low.h:1: there is a header of this name' \
    lib/comm/low.h <<END
struct another { int y; };
END
broken "a struct that stands in two headers" '^lib: all C headers together' lib/base/same.h <<END
struct low { double y; };
END
broken "a function that takes too much" 'f has 9 parameters' lib/base/takes.c <<END
int f(int a, int b, int c, int d, int e, int g, int h, int i, int j)
{
    return a;
}
END
seq 1 701 | sed 's|.*|/* & */|' >"$work/long"
broken "a file that is too long" '^lib/base/long.c:1: 701 lines' lib/base/long.c <"$work/long"
{
    printf 'int f(int a)\n{\n'
    seq 1 70 | sed 's|.*|    a += &;|'
    echo '}'
} >"$work/long"
broken "a function that is too long" '^lib/base/long.c:1: f has 73 lines' lib/base/long.c <"$work/long"
{
    echo 'struct large {'
    seq 1 26 | sed 's|.*|    int f&; /* a field; and more */|'
    echo '};'
} >"$work/long"
broken "a struct of too many fields" '^lib/base/large.h:1: struct large has 26 fields' lib/base/large.h <"$work/long"
mkdir "$work/good/lib/graph"
for number in $(seq 1 21); do
    echo "int f$number;" >"$work/good/lib/graph/f$number.c"
done
broken "a folder of too many files" '^lib/graph:1: 21 sources and headers' lib/base/none.c </dev/null
done_testing
