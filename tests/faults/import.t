#!/bin/sh
# hopwave-import and files that are wrong: each is refused with one sentence and the
# right status by one rank and by three, and leaves nothing behind. (Wrong lines of
# each format are in lib/graph/import/test_import.c.)
# shellcheck source=tests/tap/tap.sh
. "${top_srcdir:-.}/tests/tap/tap.sh"
cd "$work" || exit 99

# bad NAME PATTERN FILE [OPTION...]: refused as bad input.
bad() {
    bad_name=$1 bad_pattern=$2
    shift 2
    refused "$bad_name" 3 "$bad_pattern" hopwave-import "$@" --quiet -o out.h5
    refused "$bad_name, three ranks" 3 "$bad_pattern" \
        "$MPIEXEC" -n 3 hopwave-import "$@" --quiet -o out.h5
}

# ---- files that are none ----
bad "no such file" 'nothing.txt: cannot be read: No such file' nothing.txt
mkdir folder
bad "a folder" 'folder: is a folder' folder
: >empty
bad "an empty file" 'empty: is empty' empty
mkfifo pipe
exec 3<>pipe
bad "a pipe" 'pipe: is no plain file' pipe
exec 3>&-
echo '0 1' >secret
chmod 000 secret
if [ "$(id -u)" -eq 0 ]; then
    skip "a file that may not be read" "root may read all"
else
    bad "a file that may not be read" 'secret: cannot be read: Permission denied' secret
fi

# ---- files of others ----
bad "a device" 'is no plain file' /dev/null
printf 'PK\003\004abcdefgh' >archive
bad "a zip archive" 'zip archive; unpack it first' archive
printf 'BZh91AY&SY' >squeezed
bad "bzip2" 'bzip2; unpack it first|in the middle of what bzip2 compressed' squeezed
printf '\211PNG\r\n\032\n' >picture
bad "a picture" 'in no format that Hopwave recognizes' picture
printf '\376\377\0000\000 \0001\000\n' >utf16
bad "UTF-16" 'in no format that Hopwave recognizes' utf16
# Galois: version 1, no data, 2 vertices, 2 edges, all of 64 bits.
{
    printf '\001\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000'
    printf '\002\000\000\000\000\000\000\000\002\000\000\000\000\000\000\000'
    printf '\001\000\000\000\000\000\000\000\002\000\000\000\000\000\000\000'
    printf '\001\000\000\000\000\000\000\000'
} >galois.gr
bad "Galois's .gr" 'galois.gr: is a binary graph of Galois' galois.gr
bad "Galois's .gr, named gr" 'galois.gr: is a binary graph of Galois' galois.gr --format gr
echo '<html><body>404 Not Found</body></html>' >page.txt
bad "a page of the web" 'in no format that Hopwave recognizes' page.txt

# ---- lines ----
printf '0 1\n1 2\0003\n2 3\n' >zero
bad "a zero byte" "zero: line 2: '2\\?3' is not a vertex id|zero: line 2: '2" zero
head -c 40000000 /dev/zero | tr '\0' '1' >long
bad "a line of 40 MB" 'long: .*longer than|long: line 1: ' long
{ printf '0 1\n# ' && head -c 20000000 /dev/zero | tr '\0' '.' && printf '\n1 0\n'; } >remark
bad "a comment of 20 MB" 'remark: line 2: is longer than 16777216 bytes' remark
{ printf '0 1\nx 1\n# ' && head -c 20000000 /dev/zero | tr '\0' '.' && printf '\n1 0\n'; } >remark
bad "a wrong line before it" "remark: line 2: 'x' is not a vertex id" remark
{ printf '0 1\n# ' && head -c 16777213 /dev/zero | tr '\0' '.' && printf '\n1 0\n'; } >remark
ok "the longest line" "$MPIEXEC" -n 3 hopwave-import remark --quiet --force -o in.h5
gzip -c remark >remark.gz
ok "the longest line, compressed" "$MPIEXEC" -n 3 hopwave-import remark.gz --quiet --force -o in.h5
sed -i 's/^#/##/' remark
bad "a byte more" 'remark: line 2: is longer than' remark
gzip -c remark >remark.gz
bad "a byte more, compressed" 'remark.gz: has a line of more than' remark.gz
{ printf '0 1\n1 ' && head -c 100000 /dev/zero | tr '\0' '9' && printf '\n'; } >digits
bad "an id of 100,000 digits" 'digits: line 2: the vertex id 9999' digits
printf '0 1\r1 2\r2 0\r' >mac
bad "lines that end in CR alone" 'line 1: .* is one field too many|line 1: has [0-9]* fields' mac
printf '0 1\n18446744073709551617 2\n' >wrap
bad "an id that would wrap" 'line 2: .*past 2\^63' wrap
printf '0 1 1e99\n' >range
bad "a weight past f32" 'line 1: the weight 1e99 is past' range

# ---- headers and options ----
printf '%%%%MatrixMarket matrix coordinate pattern general\n4611686018427387905 4611686018427387905 1\n1 1\n' >huge.mtx
bad "more vertices than there may be" 'line 2: should be the numbers' huge.mtx
printf '%%%%MatrixMarket matrix coordinate pattern general\n5 5 4000000000000\n1 1\n' >many.mtx
refused "more edges than a file of that size holds" 3 'has 1 edges, and 4000000000000 by its header' \
    hopwave-import many.mtx --quiet -o out.h5
printf 'p sp 3 1\na 1 2 3\n' >small.gr
bad "the wrong format" 'small.gr: line 1: is not' small.gr --format mtx
echo "0 1" >secret.txt
bad "an edge list as gr" "secret.txt: line 1: comes before a line" secret.txt --format gr
cp small.gr cut.gr
printf 'p sp 3 4\na 1 2 3\na 2 1 3\na 2 3 ' >cut.gr
bad "cut in the middle of a line" 'cut.gr: line 4: ends where a weight should stand' cut.gr
printf 'p sp 3 4\na 1 2 3\na 2 1 3\n' >cut.gr
bad "cut at the end of a line" 'cut.gr: has 2 edges, and 4 by its header; is the file whole' cut.gr
bad "--vertices of a matrix" 'has its number of vertices in its header' small.gr --vertices 9
bad "weights that are not there" 'has no weights; --weights integer' secret.txt --weights integer

ok "nothing is left" test -z "$(find . -name '*out.h5*')"
refused "both directions" 2 'exclude each other' hopwave-import small.gr --directed --undirected -o out.h5
refused "duplicates of a directed graph" 2 'keep-duplicates' \
    hopwave-import small.gr --directed --keep-duplicates -o out.h5
refused "no file" 2 'no file; give FILE' hopwave-import -o out.h5
refused "two files" 2 "'b' is a second" hopwave-import a b -o out.h5
refused "a format that there is not" 2 'format' hopwave-import small.gr --format foo -o out.h5
refused "no vertices" 2 'vertices' hopwave-import small.gr --vertices 0 -o out.h5
hopwave-import small.gr --quiet -o there.h5
refused "an output that is there" 2 'exists' hopwave-import small.gr -o there.h5
done_testing
