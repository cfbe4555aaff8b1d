#!/bin/sh
# hopwave-study fetch: downloads that are cut, short, wrong or refused, from a server of the test's
# own; the manifest; studies that name its graphs.
# shellcheck source=tests/tap/tap.sh
. "$top_srcdir/tests/tap/tap.sh"
# shellcheck source=tests/workflow/workflow.sh
. "$top_srcdir/tests/workflow/workflow.sh"
cd "$work" || exit 99
if ! "$PYTHON3" -c 'import requests' 2>/dev/null; then
    echo "1..0 # SKIP $PYTHON3 has no requests"
    exit 0
fi
unset HOPWAVE_MANIFEST HOPWAVE_GRAPHS http_proxy https_proxy HTTP_PROXY HTTPS_PROXY all_proxy ALL_PROXY
export NO_PROXY='*' no_proxy='*'

mkdir served folder
"$PYTHON3" - <<'END2' >served/ring.txt || exit 99
n = 20000
for v in range(n):
    print(v, (v + 1) % n)
END2
sum=$(sha256sum <served/ring.txt | cut -d' ' -f1) bytes=$(wc -c <served/ring.txt)
mkfifo stop
"$PYTHON3" "$top_srcdir/tests/workflow/serve-files.py" served port <stop &
exec 9>stop
for _ in $(seq 300); do
    [ -s port ] && break
    sleep 0.1
done
at=http://127.0.0.1:$(cat port)
cat >m.yaml <<END2
version: 1
graphs:
  - name: ring
    title: A ring
    sets: [rings]
    url: $at/good/ring.txt
    bytes: $bytes
    sha256: $sum
    vertices: 20000
    edges: 20000
    import: { undirected: true, weights: "integer:1:9" }
  - name: Unseen
    url: $at/good/ring.txt
END2

mkdir bin
cat >bin/fetch <<END2
#!/bin/sh
exec "$PYTHON3" "$study" fetch --manifest m.yaml --directory folder "\$@"
END2
chmod +x bin/fetch
PATH=$work/bin:$PATH
ring=folder/graphs/ring/ring.txt

# got NAME OPTION...: the ring is there afterwards, whole, and nothing beside it.
got() {
    got_name=$1
    shift
    rm -rf folder/graphs served/requests
    ok "$got_name" fetch ring "$@"
    is "$got_name: whole" "$(sha256sum <$ring | cut -d' ' -f1)" "$sum"
    is "$got_name: alone" "$(ls folder/graphs/ring)" ring.txt
}

# bad NAME PATTERN OPTION...: what came is refused and kept aside, and no graph is there.
bad() {
    bad_name=$1 bad_pattern=$2
    shift 2
    rm -rf folder/graphs
    refused "$bad_name" 3 "$bad_pattern; kept aside as $ring.refused" fetch ring "$@"
    is "$bad_name: nothing under the name" "$(ls folder/graphs/ring)" ring.txt.refused
}

# ---- downloads ----
got "a download"
got "from a mirror" --from "$at/moved/"
got "from a file" --from "file://$work/served/ring.txt"
got "cut again and again" --from "$at/cut/"
ok "which went on where it ended" grep -q 'bytes=[1-9]' served/requests
got "without ranges" --from "$at/whole/"
got "from a server that is busy at first" --from "$at/busy/"
ok "what is there is verified" fetch ring
echo 1 >>$ring
refused "and refused if it is not the same" 3 "$ring: has .* bytes, and $bytes by the manifest; --force" \
    fetch ring
ok "--force fetches it again" fetch ring --force

rm -rf folder/graphs
mkdir -p folder/graphs/ring
head -c 5000 served/ring.txt >$ring.part
: >served/requests
ok "a part that was left by another run" fetch ring
is "is gone on with" "$(cat served/requests)" '/good/ring.txt bytes=5000-'
head -c 5000 /dev/zero >$ring.part
refused "a part that is of something else" 3 "has the SHA-256 .* kept aside as $ring.refused" \
    fetch ring --force
cp served/ring.txt $ring.part
ok "a part that is whole" fetch ring --force

bad "a file that is short" "has .* bytes, and $bytes by the manifest" --from "$at/short/"
bad "a file with another byte" "has the SHA-256 [0-9a-f]*, and $sum by the manifest" --from "$at/wrong/"
bad "a file that goes on" "has more than $bytes bytes, which it has by the manifest" --from "$at/more/"
bad "a page" "has .* bytes, and $bytes by the manifest" --from "$at/page/"
bad "a file that changed on the way" "has the SHA-256 .* by the manifest" --from "$at/changed/"
refused "the next one that is refused has a name too" 3 "kept aside as $ring.refused-2" \
    fetch ring --from "$at/wrong/"
refused "no such file" 4 "the server says 404" fetch ring --from "$at/good/none"
refused "no such file on this machine" 4 "No such file" fetch ring --from file:///nowhere/ring.txt
refused "no file" 4 "not a file" fetch ring --from file:///dev/zero
refused "a server that hangs up" 4 "(cut|cannot be reached)" fetch ring --from "$at/dead/"
refused "no server" 4 "cannot be reached" fetch ring --from http://127.0.0.1:1/
refused "a loop" 4 "from one place to the next" fetch ring --from "$at/loop/"
refused "another protocol" 2 "is no URL of http, https or file" fetch ring --from ftp://a/b
refused "an unknown graph" 2 "rong: no graph of the manifest" fetch rong
refused "no graph" 2 "no graph; name some" fetch
: >blocked
refused "a folder that cannot be made" 4 "blocked" \
    "$PYTHON3" "$study" fetch ring --manifest m.yaml --directory blocked

# Without a checksum the first download is believed, and the later ones are not.
ok "a graph without a checksum" fetch Unseen
ok "its checksum is kept" grep -q "^$sum " folder/graphs/Unseen/ring.txt.sha256
rm folder/graphs/Unseen/ring.txt
refused "another file later" 3 "has the SHA-256 .* by ring.txt.sha256; kept aside" \
    fetch Unseen --from "$at/wrong/ring.txt"
refused "a page" 3 "is a web page and no graph; kept aside" fetch Unseen --from "$at/page/ring.txt"

# ---- the list ----
rm -rf folder/graphs
fetch ring >fetched
ok "the path and the checksum are printed" grep -q "^sha256: $sum (as the manifest has it)" fetched
fetch --list >list
is "a line each" "$(wc -l <list)" 3
ok "what is there" grep -q -E '^ring +here +0.2 MB +20,000 +20,000 +known +rings +A ring$' list
ok "what is not" grep -q -E '^Unseen +- +\? ' list
ok "the shipped manifest" "$PYTHON3" "$study" fetch --list USA-road-d.NY GAP-road com-Orkut

# ---- manifests that are wrong ----
wrong() {
    wrong_name=$1 wrong_pattern=$2
    cat >wrong.yaml
    refused "$wrong_name" 3 "wrong.yaml$wrong_pattern" "$PYTHON3" "$study" fetch --list --manifest wrong.yaml
}
wrong "an unknown key" ":4: graphs\[1\] has the unknown key 'link'; known are name" <<'END2'
version: 1
graphs:
  - { name: a, url: "http://a/b" }
  - { name: c, link: "http://a/b", url: "http://a/c" }
END2
wrong "a checksum that is none" ":5: graphs\[0\].sha256 is \"abc\", which it may not be" <<'END2'
version: 1
graphs:
  - name: a
    url: http://a/b
    sha256: abc
END2
wrong "a URL of another protocol" ":4: graphs\[0\].url is \"ftp://a/b\"" <<'END2'
version: 1
graphs:
  - name: a
    url: ftp://a/b
END2
wrong "a name that leads elsewhere" ":3: graphs\[0\].name is \"../a\"" <<'END2'
version: 1
graphs:
  - name: ../a
    url: http://a/b
END2
wrong "a URL without a file" ":3: graphs\[0\]: its url does not end in a plain file name" <<'END2'
version: 1
graphs:
  - { name: a, url: "http://a/b/.." }
END2
wrong "a graph twice" ":4: graphs\[1\]: a second 'a'" <<'END2'
version: 1
graphs:
  - { name: a, url: "http://a/b" }
  - { name: a, url: "http://a/c" }
END2
wrong "no YAML" ":3: " <<'END2'
version: 1
graphs: [
END2
refused "no manifest" 3 'none.yaml: No such file' "$PYTHON3" "$study" fetch --list --manifest none.yaml

# ---- studies ----
cat >study.yaml <<'END2'
graphs: [{ fetch: ring }]
layouts: [{ layout: 1d }]
parts: [1]
methods: [{ algorithm: sssp, method: auto }]
roots: { count: 1 }
repeats: 1
END2
export HOPWAVE_MANIFEST="$work/m.yaml"
# shellcheck disable=SC2016
refused "a graph that was not fetched" 3 \
    'graphs\[0\].fetch: ring is not there; `hopwave-study fetch ring --directory elsewhere` gets it' \
    "$PYTHON3" "$study" run --config study.yaml --directory elsewhere --dry-run
sed 's/ring/rong/' study.yaml >rong.yaml
refused "a graph that is not in the manifest" 3 "graphs\[0\].fetch: no graph of .*m.yaml is named 'rong'" \
    "$PYTHON3" "$study" run --config rong.yaml --dry-run
sed 's/ring }/ring, format: mtx }/' study.yaml >rong.yaml
refused "a key that is the manifest's" 3 "graphs\[0\] has the unknown key 'format'; known are fetch, name" \
    "$PYTHON3" "$study" run --config rong.yaml --dry-run
cd folder || exit 99
ok "a study of a graph that was fetched" run_study ../study.yaml
ok "as the manifest says" test -f results/graphs/ring-undirected-weights-integer_1_9.h5
ok "its searches are valid" grep -q ',1,0,' results/gate.csv
exec 9>&-
done_testing
