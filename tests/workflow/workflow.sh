# shellcheck shell=sh
# What the tests of the workflow share; source it after tap.sh.
: "${PYTHON3:=python3}"
study=$top_builddir/hopwave-study
test_config=$top_srcdir/.test/config/study.yaml
export HOPWAVE_BIN="$top_builddir"
[ -z "$MPIEXEC" ] || export HOPWAVE_MPIEXEC="$MPIEXEC"
# Matplotlib and Snakemake keep caches below these.
export HOME="$work" XDG_CACHE_HOME="$work/cache" MPLCONFIGDIR="$work/matplotlib"

if ! "$PYTHON3" -c 'import snakemake, pygments, jsonschema, h5py, pandas, matplotlib' \
    2>/dev/null; then
    echo "1..0 # SKIP $PYTHON3 has not the packages of workflow/envs/requirements.txt"
    exit 0
fi

# run_study CONFIG [OPTION...]: a study in the current folder, on two cores.
run_study() {
    study_config=$1
    shift
    "$PYTHON3" "$study" run --config "$study_config" --cores 2 "$@" </dev/null
}

# would_make CONFIG: the files that a run would make, sorted, without those that
# follow from any change (tables and plots).
would_make() {
    run_study "$1" --dry-run --verbose 2>&1 | sed -n 's/^    output: //p' | tr -d ' ' | tr ',' '\n' |
        grep -v -E '^results/(plots/|tables/|index\.html|columns\.csv)' | sort -u
}
