# lib/layout: parts, their options and files
libhopwave_a_SOURCES += \
  lib/layout/degree_variation.h \
  lib/layout/edge_map.h \
  lib/layout/layout_options.c \
  lib/layout/layout_options.h \
  lib/layout/part.c \
  lib/layout/part.h \
  lib/layout/part_check.c \
  lib/layout/part_check.h \
  lib/layout/part_matrices.c \
  lib/layout/part_matrices.h \
  lib/layout/read_partition.c \
  lib/layout/threshold.c \
  lib/layout/threshold.h \
  lib/layout/write_partition.c
check_PROGRAMS += lib/layout/test_layout_options.t
TESTS += lib/layout/test_layout_options.t
lib_layout_test_layout_options_t_SOURCES = lib/layout/test_layout_options.c
lib_layout_test_layout_options_t_LDADD = $(TAP_LDADD)
check_PROGRAMS += lib/layout/test_part.t
TESTS += lib/layout/test_part.t
lib_layout_test_part_t_SOURCES = lib/layout/test_part.c
lib_layout_test_part_t_LDADD = $(TAP_LDADD)
check_PROGRAMS += lib/layout/test_partition_file.mt
TESTS += lib/layout/test_partition_file.mt
lib_layout_test_partition_file_mt_SOURCES = lib/layout/test_partition_file.c \
  tests/fixtures/part_oracle.c tests/fixtures/part_oracle.h tests/fixtures/random_graphs.c tests/fixtures/random_graphs.h
lib_layout_test_partition_file_mt_LDADD = $(TAP_LDADD)

# from tuples to parts
libhopwave_a_SOURCES += \
  lib/layout/build/bins.c \
  lib/layout/build/bins.h \
  lib/layout/build/block_pool.c \
  lib/layout/build/block_pool.h \
  lib/layout/build/build.c \
  lib/layout/build/build.h \
  lib/layout/build/build_from_graph.c \
  lib/layout/build/choose_delegates.c \
  lib/layout/build/collect_tuples.c \
  lib/layout/build/compress_matrices.c \
  lib/layout/build/order_vertices.c \
  lib/layout/build/packed_record.c \
  lib/layout/build/packed_record.h \
  lib/layout/build/part_vertices.c \
  lib/layout/build/relabel_edges.c \
  lib/layout/build/vertex_distribution.h
check_PROGRAMS += lib/layout/build/test_bins.t
TESTS += lib/layout/build/test_bins.t
lib_layout_build_test_bins_t_SOURCES = lib/layout/build/test_bins.c
lib_layout_build_test_bins_t_LDADD = $(TAP_LDADD)
check_PROGRAMS += lib/layout/build/test_build.mt
TESTS += lib/layout/build/test_build.mt
lib_layout_build_test_build_mt_SOURCES = lib/layout/build/test_build.c \
  tests/fixtures/part_oracle.c tests/fixtures/part_oracle.h tests/fixtures/random_graphs.c tests/fixtures/random_graphs.h
lib_layout_build_test_build_mt_LDADD = $(TAP_LDADD)
