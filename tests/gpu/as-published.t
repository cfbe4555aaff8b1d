#!/bin/sh
# --as-published: which methods have options that their papers set otherwise, what is recorded,
# and, on machines with a GPU or emulated ones, that each such option changes what it names.
# shellcheck disable=SC1091,SC2086 # options are lists of words
. "${top_srcdir:-.}/tests/tap/gpu.sh"

hopwave-generate -q --model rmat --scale 9 --weights uniform -o g.h5
refused "a method without" 3 "g.h5: --as-published: method sequential has no option .*: .*adaptive" \
    hopwave-traverse -q g.h5 --layout 1d --method sequential --as-published -o t.h5
refused "auto, which takes one without" 3 "--as-published: method [a-z]* has no option" \
    hopwave-traverse -q g.h5 --layout 1d --algorithm sssp --as-published -o t.h5
ok "no file is left" test ! -e t.h5
hopwave-traverse --help=adaptive >help
ok "help lists what it sets" grep -q -e '--as-published sets: .*--alpha=0.1' help
hopwave-traverse -q g.h5 --layout 1d --roots 1 -o cpu.h5
is "/run says that it was not given" "$(info cpu.h5 as_published)" 0

needs_gpu "methods as published" 1 g.h5 --layout 1d
hopwave-traverse -q --force g.h5 --layout 1d --roots 2 -o cpu.h5
like_cpu "adaptive as published" 1 g.h5 --layout 1d --method adaptive --as-published --roots 2
is "/run says that it was given" "$(info gpu.h5 as_published)" 1
is "and the option that it set" "$(info gpu.h5 alpha)" 0.1
like_cpu "an option that is given stays" 1 g.h5 --layout 1d --method adaptive --as-published \
    --alpha 0.3 --roots 2
is "as it is" "$(info gpu.h5 alpha)" 0.3
done_testing
