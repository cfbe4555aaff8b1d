# tests/fuzz: fuzzing of the parsers of imports and of lists of roots
#
# `make check` replays the corpus. `make fuzz` needs clang with libFuzzer: it fuzzes
# each parser for FUZZ_SECONDS, one after another, from the corpus on, into the folder
# fuzz/ of the build; `make fuzz-programs` only builds.
FUZZ_SECONDS = 600
FUZZ_FORMATS = edges mtx gr metis sg wsg packed stream
FUZZ_PARTS = \
  tests/fuzz/fuzz.c tests/fuzz/binary.c tests/fuzz/target.c \
  lib/graph/import/formats/edge_list.c lib/graph/import/formats/line_fields.c lib/graph/import/formats/dimacs.c \
  lib/graph/import/formats/gap.c lib/graph/import/formats/metis.c lib/graph/import/formats/matrix_market.c \
  lib/graph/import/formats/graph500_packed.c lib/graph/import/head.c lib/graph/import/scan_numbers.c \
  lib/graph/import/formats/ldbc.c lib/graph/import/input/input_file.c lib/graph/import/input/decompress.c \
  lib/graph/import/input/codec_gzip.c lib/graph/import/input/codec_xz.c \
  lib/graph/import/input/codec_bzip2.c lib/graph/import/input/codec_zstd.c \
  lib/base/memory.c lib/base/status.c
# Of the rest of the library it calls nothing.
FUZZ_ROOTS = tests/fuzz/fuzz.c tests/fuzz/roots.c lib/base/memory.c lib/base/status.c
EXTRA_DIST += tests/fuzz/target.c tests/fuzz/corpus
check_PROGRAMS += tests/fuzz/replay.t
TESTS += tests/fuzz/replay.t
tests_fuzz_replay_t_SOURCES = tests/fuzz/replay.c tests/fuzz/fuzz.c tests/fuzz/fuzz.h \
  tests/fuzz/binary.c tests/fuzz/roots.c
tests_fuzz_replay_t_LDADD = $(TAP_LDADD)

.PHONY: fuzz fuzz-programs
# MPI's wrapper is asked to call clang, for its headers alone.
fuzz-programs:
	@test -n '$(FUZZ_CC)' || { echo 'fuzzing needs clang with libFuzzer (clang, libclang-rt-dev)' >&2; exit 1; }
	$(MKDIR_P) fuzz
	for format in $(FUZZ_FORMATS); do \
	  reader=-DHW_FUZZ_READER=hw_reader_$$format; test $$format = stream && reader=; \
	  MPICH_CC='$(FUZZ_CC)' OMPI_CC='$(FUZZ_CC)' $(MPICC) -std=gnu11 -g -O1 -w \
	    -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=undefined \
	    $$reader -D_GNU_SOURCE -I$(top_builddir) -I$(top_srcdir) \
	    $(FUZZ_PARTS:%=$(top_srcdir)/%) $(ZLIB_LIBS) $(LZMA_LIBS) \
	    $(BZIP2_LIBS) $(ZSTD_LIBS) -o fuzz/$$format || exit 1; \
	done
	MPICH_CC='$(FUZZ_CC)' OMPI_CC='$(FUZZ_CC)' $(MPICC) -std=gnu11 -g -O1 -w \
	  -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=undefined \
	  -D_GNU_SOURCE -I$(top_builddir) -I$(top_srcdir) \
	  -fno-pie -no-pie $(FUZZ_ROOTS:%=$(top_srcdir)/%) -Wl,--unresolved-symbols=ignore-all -o fuzz/roots
fuzz: fuzz-programs
	for format in $(FUZZ_FORMATS) roots; do \
	  $(MKDIR_P) fuzz/corpus/$$format && \
	  ASAN_OPTIONS=detect_leaks=1 fuzz/$$format -max_total_time=$(FUZZ_SECONDS) -timeout=10 \
	    -artifact_prefix=fuzz/$$format- fuzz/corpus/$$format \
	    $(top_srcdir)/tests/fuzz/corpus/$$format || exit 1; \
	done
