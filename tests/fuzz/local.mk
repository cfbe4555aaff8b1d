# tests/fuzz: fuzzing of the parsers of imports, of lists of roots, of attributes and of messages
# between ranks, and of what is printed as JSON
#
# `make check` replays the corpus, `make check-long` fuzzes each target for some seconds where clang
# has libFuzzer. `make fuzz` fuzzes each for FUZZ_SECONDS, one after another, from the corpus on, into
# the folder fuzz/ of the build; `make fuzz-programs` only builds.
FUZZ_SECONDS = 600
FUZZ_FORMATS = edges mtx gr metis sg wsg packed
FUZZ_FUNCTIONS = stream roots attributes messages frontiers json
FUZZ_TARGETS = $(FUZZ_FORMATS) $(FUZZ_FUNCTIONS)
# What is watched by the fuzzer and by sanitizers; the rest comes from the library.
FUZZ_PARTS = \
  tests/fuzz/fuzz.c tests/fuzz/binary.c tests/fuzz/roots.c tests/fuzz/catalogues.c \
  tests/fuzz/frontiers.c tests/fuzz/json.c \
  lib/graph/import/formats/edge_list.c lib/graph/import/formats/line_fields.c lib/graph/import/formats/dimacs.c \
  lib/graph/import/formats/gap.c lib/graph/import/formats/metis.c lib/graph/import/formats/matrix_market.c \
  lib/graph/import/formats/graph500_packed.c lib/graph/import/head.c lib/graph/import/scan_numbers.c \
  lib/graph/import/formats/ldbc.c lib/graph/import/input/input_file.c lib/graph/import/input/decompress.c \
  lib/graph/import/input/codec_gzip.c lib/graph/import/input/codec_xz.c \
  lib/graph/import/input/codec_bzip2.c lib/graph/import/input/codec_zstd.c \
  lib/store/catalogue/catalogue.c lib/store/catalogue/schema.c lib/store/catalogue/renamed.c \
  lib/engine/core/row_column_exchange.c lib/base/bitmap.c lib/layout/build/packed_record.c \
  lib/base/memory.c lib/base/status.c
EXTRA_DIST += tests/fuzz/target.c tests/fuzz/corpus tests/fuzz/fuzz.t
LONG_TESTS += tests/fuzz/fuzz.t
check_PROGRAMS += tests/fuzz/replay.t
TESTS += tests/fuzz/replay.t
tests_fuzz_replay_t_SOURCES = tests/fuzz/replay.c tests/fuzz/fuzz.c tests/fuzz/fuzz.h \
  tests/fuzz/binary.c tests/fuzz/roots.c tests/fuzz/catalogues.c tests/fuzz/frontiers.c \
  tests/fuzz/json.c
tests_fuzz_replay_t_LDADD = $(TAP_LDADD)

.PHONY: fuzz fuzz-programs
FUZZ_FLAGS = -fsanitize=address,undefined -fno-sanitize-recover=undefined $(DEFS) -D_GNU_SOURCE \
  $(HDF5_CFLAGS) $(XXHASH_CFLAGS) $(JANSSON_CFLAGS)
# MPI's wrapper is asked to call clang.
fuzz-programs: libhopwave.a
	@test -n '$(FUZZ_CC)' || { echo 'fuzzing needs clang with libFuzzer (clang, libclang-rt-dev)' >&2; exit 1; }
	$(MKDIR_P) fuzz/parts && rm -f fuzz/parts/*.o
	cd fuzz/parts && top=$(abs_top_srcdir); for part in $(FUZZ_PARTS); do echo $$top/$$part; done | \
	  xargs -P 2 -n 8 env MPICH_CC='$(FUZZ_CC)' OMPI_CC='$(FUZZ_CC)' $(MPICC) -std=gnu11 -g -O1 -w \
	    $(FUZZ_FLAGS) -fsanitize=fuzzer-no-link -I$(abs_top_builddir) -I$(abs_top_srcdir) -c
	for target in $(FUZZ_TARGETS); do \
	  entry=-DHW_FUZZ_FUNCTION=hw_fuzz_$$target; \
	  case ' $(FUZZ_FORMATS) ' in *" $$target "*) entry=-DHW_FUZZ_READER=hw_reader_$$target ;; esac; \
	  MPICH_CC='$(FUZZ_CC)' OMPI_CC='$(FUZZ_CC)' $(MPICC) -std=gnu11 -g -O1 -w $(FUZZ_FLAGS) \
	    -fsanitize=fuzzer $$entry -I$(top_builddir) -I$(top_srcdir) \
	    $(top_srcdir)/tests/fuzz/target.c fuzz/parts/*.o $(LDADD) $(LIBS) -lgomp -o fuzz/$$target || exit 1; \
	done
fuzz: fuzz-programs
	for target in $(FUZZ_TARGETS); do \
	  $(MKDIR_P) fuzz/corpus/$$target && \
	  ASAN_OPTIONS=detect_leaks=1 fuzz/$$target -max_total_time=$(FUZZ_SECONDS) -timeout=10 -rss_limit_mb=4096 \
	    -artifact_prefix=fuzz/$$target- fuzz/corpus/$$target \
	    $(top_srcdir)/tests/fuzz/corpus/$$target || exit 1; \
	done
