#!/bin/sh
# The same undirected graph in every format gives the same partition, whether its
# pairs are listed once or twice; so do graphs of the world, where they are at hand.
# shellcheck source=tests/tap/tap.sh
. "$top_srcdir/tests/tap/tap.sh"
: "${PYTHON3:=python3}" "${HOPWAVE_DATA:=$top_srcdir/../shared/data}"
cd "$work" || exit 99

if ! "$PYTHON3" -c 'import h5py, numpy' 2>/dev/null; then
    echo "1..0 # SKIP $PYTHON3 has no h5py"
    exit 0
fi
formats() {
    "$PYTHON3" "$top_srcdir/tests/pipeline/formats.py" "$@"
}

# partition GRAPH: the digest of its partition.
partition() {
    hopwave-partition "$1" --layout 2d --grid 2x1 --quiet --force -o p.h5 &&
        hopwave-info p.h5 | sed -n 's/^  digest: //p'
}

# imported N FILE OPTION...: the digest of a partition of a file, imported by N ranks.
imported() {
    imported_n=$1
    shift
    if [ "$imported_n" -eq 1 ]; then
        hopwave-import "$@" --undirected --quiet --force -o i.h5
    else
        ranks "$imported_n" hopwave-import "$@" --undirected --quiet --force -o i.h5 </dev/null
    fi && partition i.h5
}

# all FOLDER DIGEST WHAT [OPTION...]: each file of a folder's list gives that partition.
all() {
    all_folder=$1 all_digest=$2 all_what=$3 all_n=0
    shift 3
    while read -r name options; do
        all_n=$((all_n % 3 + 1))
        # The options are words.
        # shellcheck disable=SC2086
        is "$all_what as $name, by $all_n ranks" \
            "$(imported $all_n "$all_folder/$name" $options "$@")" "$all_digest"
    done <"$all_folder/list"
}

# exports GRAPH.h5 DIGEST WHAT FORMAT...: what hopwave-export writes gives it too.
exports() {
    exports_graph=$1 exports_digest=$2 exports_what=$3
    shift 3
    vertices=$(hopwave-info "$exports_graph" | sed -n 's/^  vertices: //p')
    for format in "$@"; do
        options=
        case $format in el | wel) options=--ids ;; esac
        # shellcheck disable=SC2086
        hopwave-export "$exports_graph" --format "$format" $options -o exported --force --quiet ||
            continue
        options=
        case $format in
        packed) options="--format packed --vertices $vertices" ;;
        el | wel) options="--vertices $vertices" ;;
        esac
        # shellcheck disable=SC2086
        is "$exports_what, exported to $format" "$(imported 2 exported $options)" "$exports_digest"
    done
}

# ---- generated graphs ----
for weights in none integer:1:255; do
    hopwave-generate --model erdos-renyi --scale 9 --edges 3000 --weights $weights -q -o g.h5 &&
        hopwave-export g.h5 --format mtx -q -o g.mtx &&
        hopwave-import g.mtx --undirected -q -o folded.h5 || exit 99
    digest=$(partition folded.h5)
    is "weights $weights: folding changes no partition" "$(partition g.h5)" "$digest"
    ok "weights $weights: the export is what $("$PYTHON3" -c 'import scipy' 2>/dev/null &&
        echo SciPy || echo Python) reads" formats same g.h5 g.mtx
    ok "weights $weights: written by Python" formats write g.h5 $weights
    all $weights "$digest" "weights $weights"
    if [ $weights = none ]; then
        exports folded.h5 "$digest" "weights none" packed mtx el sg
    else
        exports folded.h5 "$digest" "weights $weights" mtx wel wsg
        mv $weights/list list && grep -v gap list >$weights/list
        hopwave-import $weights/gap --weights none -q -o g.h5 --force || exit 99
        all $weights "$(partition g.h5)" "without its weights" --weights none
    fi
    rm -r g.h5 g.mtx folded.h5
done

# ---- graphs of the world ----
# world FILE WHAT: imported as Python reads it; the same in every format.
world() {
    if [ ! -r "$HOPWAVE_DATA/$1" ]; then
        skip "$2" "$HOPWAVE_DATA/$1 is not there"
        return 1
    fi
    ok "$2: imported" hopwave-import "$HOPWAVE_DATA/$1" --undirected --weights none -q \
        --force -o w.h5
    ok "$2: as Python reads it" formats same w.h5 "$HOPWAVE_DATA/$1"
}

# searched LAYOUT LEAST OPTION...: every search in a layout is validated and has that
# many levels.
searched() {
    searched_layout=$1 searched_least=$2
    shift 2
    hopwave-partition w.h5 --layout "$searched_layout" "$@" -q --force -o p.h5
    ok "$searched_layout: validated" ranks 2 hopwave-traverse p.h5 --check --graph w.h5 \
        --root-list 1,2 -q --force -o t.h5
    ok "$searched_layout: more than $searched_least levels" "$PYTHON3" -c \
        'import h5py, sys; assert (h5py.File("t.h5")["level"][()].max(1) > int(sys.argv[1])).all()' \
        "$searched_least"
}

if world email-Enron.txt.gz "email-Enron"; then
    formats write "$HOPWAVE_DATA/email-Enron.txt.gz" enron || exit 99
    all enron "$(partition w.h5)" email-Enron
fi
if world NY.gr.xz "the roads of New York"; then
    formats write "$HOPWAVE_DATA/NY.gr.xz" ny || exit 99
    grep -E 'once|gap' ny/list >list && mv list ny/list
    all ny "$(partition w.h5)" "the roads of New York"
    searched 1d 300 --parts 2
    searched 2d 300 --grid 2x1
    searched degree-separated 300 --parts 2
fi
if world FLA.gr.xz "the roads of Florida"; then
    exports w.h5 "$(partition w.h5)" "the roads of Florida" sg el
    searched 1d 700 --parts 2
    searched 2d 700 --grid 2x1
    searched degree-separated 700 --parts 2
fi
done_testing
