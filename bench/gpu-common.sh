# shellcheck shell=sh disable=SC2034 # file and name are for who sources it
# Common functions of the scripts in this folder; source it. They run from the source tree or from a
# bundle; $work is a folder that is removed when they end.
home=$(cd -- "$(dirname -- "$(readlink -f -- "$0")")/.." && pwd)
[ ! -d "$home/bin" ] || PATH=$home/bin:$PATH
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# take GRAPH [OPTIONS]...: sets file, and name, which begins names of files and rows. GRAPH is a
# file; or rmat:SCALE[:EDGE_FACTOR] (16), directed:..., signed:... or random:..., a recipe that
# is made here, with these OPTIONS of hopwave-generate.
take() {
    file=$1 name=$(basename "$1" .h5 | tr : -)
    model=${1%%:*} scale=${1#*:} factor=16
    case $scale in
    *:*) factor=${scale#*:} scale=${scale%%:*} ;;
    esac
    shift
    case $model in
    rmat) set -- rmat --scale "$scale" --edge-factor "$factor" "$@" ;;
    directed) set -- rmat --scale "$scale" --edge-factor "$factor" --directed "$@" ;;
    signed) set -- rmat --scale "$scale" --edge-factor "$factor" --directed --weights signed ;;
    random) set -- erdos-renyi --scale "$scale" --edges $((factor << scale)) "$@" ;;
    *) return ;;
    esac
    file=$work/$name.g.h5
    hopwave-generate -q --force --model "$@" --recipe -o "$file"
}
