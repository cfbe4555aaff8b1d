# lib/graph: edge tuples from files and generators
libhopwave_a_SOURCES += \
  lib/graph/compact_numbering.c \
  lib/graph/compact_numbering.h \
  lib/graph/cycle.c \
  lib/graph/cycle.h \
  lib/graph/graph.c \
  lib/graph/graph.h \
  lib/graph/graph_writer.c \
  lib/graph/graph_writer.h \
  lib/graph/vertex_labels.c \
  lib/graph/vertex_labels.h
check_PROGRAMS += lib/graph/test_compact_numbering.mt
TESTS += lib/graph/test_compact_numbering.mt
lib_graph_test_compact_numbering_mt_SOURCES = lib/graph/test_compact_numbering.c
lib_graph_test_compact_numbering_mt_LDADD = $(TAP_LDADD)
check_PROGRAMS += lib/graph/test_graph.mt
TESTS += lib/graph/test_graph.mt
lib_graph_test_graph_mt_SOURCES = lib/graph/test_graph.c
lib_graph_test_graph_mt_LDADD = $(TAP_LDADD)
check_PROGRAMS += lib/graph/test_vertex_labels.mt
TESTS += lib/graph/test_vertex_labels.mt
lib_graph_test_vertex_labels_mt_SOURCES = lib/graph/test_vertex_labels.c
lib_graph_test_vertex_labels_mt_LDADD = $(TAP_LDADD)

# generators
libhopwave_a_SOURCES += \
  lib/graph/generate/edge_weights.c \
  lib/graph/generate/edge_weights.h \
  lib/graph/generate/erdos_renyi.c \
  lib/graph/generate/erdos_renyi.h \
  lib/graph/generate/generator.h \
  lib/graph/generate/generator_attributes.c \
  lib/graph/generate/generator_make.c \
  lib/graph/generate/generator_options.c \
  lib/graph/generate/generator_options.h \
  lib/graph/generate/generator_spec.c \
  lib/graph/generate/generator_spec.h \
  lib/graph/generate/graph500.c \
  lib/graph/generate/graph500.h \
  lib/graph/generate/graph500_mrg.c \
  lib/graph/generate/graph500_mrg.h \
  lib/graph/generate/random.c \
  lib/graph/generate/random.h \
  lib/graph/generate/rmat.c \
  lib/graph/generate/rmat.h
libhopwave_a_SOURCES += \
  lib/graph/generate/spatial/geometric.c \
  lib/graph/generate/spatial/geometric.h \
  lib/graph/generate/spatial/lattice.c \
  lib/graph/generate/spatial/lattice.h \
  lib/graph/generate/spatial/road.c \
  lib/graph/generate/spatial/road.h \
  lib/graph/generate/spatial/small_world.c \
  lib/graph/generate/spatial/small_world.h \
  lib/graph/generate/spatial/vertex_permutation.h
check_PROGRAMS += lib/graph/generate/test_edge_weights.t
TESTS += lib/graph/generate/test_edge_weights.t
lib_graph_generate_test_edge_weights_t_SOURCES = lib/graph/generate/test_edge_weights.c
lib_graph_generate_test_edge_weights_t_LDADD = $(TAP_LDADD)
check_PROGRAMS += lib/graph/generate/test_erdos_renyi.t
TESTS += lib/graph/generate/test_erdos_renyi.t
lib_graph_generate_test_erdos_renyi_t_SOURCES = lib/graph/generate/test_erdos_renyi.c
lib_graph_generate_test_erdos_renyi_t_LDADD = $(TAP_LDADD)
check_PROGRAMS += lib/graph/generate/test_graph500.t
TESTS += lib/graph/generate/test_graph500.t
lib_graph_generate_test_graph500_t_SOURCES = lib/graph/generate/test_graph500.c
lib_graph_generate_test_graph500_t_LDADD = $(TAP_LDADD)
check_PROGRAMS += lib/graph/generate/test_rmat.t
TESTS += lib/graph/generate/test_rmat.t
lib_graph_generate_test_rmat_t_SOURCES = lib/graph/generate/test_rmat.c
lib_graph_generate_test_rmat_t_LDADD = $(TAP_LDADD)
check_PROGRAMS += lib/graph/generate/test_single_tuples.t
TESTS += lib/graph/generate/test_single_tuples.t
lib_graph_generate_test_single_tuples_t_SOURCES = lib/graph/generate/test_single_tuples.c
lib_graph_generate_test_single_tuples_t_LDADD = $(TAP_LDADD)
check_PROGRAMS += lib/graph/generate/spatial/test_spatial.mt
TESTS += lib/graph/generate/spatial/test_spatial.mt
lib_graph_generate_spatial_test_spatial_mt_SOURCES = lib/graph/generate/spatial/test_spatial.c
lib_graph_generate_spatial_test_spatial_mt_LDADD = $(TAP_LDADD)

# characteristics
libhopwave_a_SOURCES += \
  lib/graph/characteristics/adjacency.c \
  lib/graph/characteristics/adjacency.h \
  lib/graph/characteristics/characteristics.c \
  lib/graph/characteristics/characteristics.h \
  lib/graph/characteristics/components.c \
  lib/graph/characteristics/search.c

# imports
libhopwave_a_SOURCES += \
  lib/graph/import/compact_ids.c \
  lib/graph/import/compact_sparse_ids.c \
  lib/graph/import/draw_weights.c \
  lib/graph/import/fold_undirected.c \
  lib/graph/import/format_reader.h \
  lib/graph/import/head.c \
  lib/graph/import/import.c \
  lib/graph/import/import.h \
  lib/graph/import/import_files.c \
  lib/graph/import/import_report.c \
  lib/graph/import/import_steps.h \
  lib/graph/import/listed_vertices.c \
  lib/graph/import/match_listings.c \
  lib/graph/import/parse_job.h \
  lib/graph/import/parse_ranges.c \
  lib/graph/import/parse_stream.c \
  lib/graph/import/resolve_tuples.c \
  lib/graph/import/scan_numbers.c \
  lib/graph/import/scan_numbers.h \
  lib/graph/import/write_graph.c
libhopwave_a_SOURCES += \
  lib/graph/import/input/codec.h \
  lib/graph/import/input/codec_bzip2.c \
  lib/graph/import/input/codec_gzip.c \
  lib/graph/import/input/codec_xz.c \
  lib/graph/import/input/codec_zstd.c \
  lib/graph/import/input/decompress.c \
  lib/graph/import/input/input.h \
  lib/graph/import/input/input_digest.c \
  lib/graph/import/input/input_file.c \
  lib/graph/import/input/tar_archive.c \
  lib/graph/import/input/tar_archive.h
libhopwave_a_SOURCES += \
  lib/graph/import/formats/dimacs.c \
  lib/graph/import/formats/edge_list.c \
  lib/graph/import/formats/gap.c \
  lib/graph/import/formats/graph500_packed.c \
  lib/graph/import/formats/ldbc.c \
  lib/graph/import/formats/ldbc.h \
  lib/graph/import/formats/line_fields.c \
  lib/graph/import/formats/line_fields.h \
  lib/graph/import/formats/matrix_market.c \
  lib/graph/import/formats/metis.c
check_PROGRAMS += lib/graph/import/test_import.mt
TESTS += lib/graph/import/test_import.mt
lib_graph_import_test_import_mt_SOURCES = lib/graph/import/test_import.c \
  tests/fixtures/import_examples.c tests/fixtures/import_examples.h
lib_graph_import_test_import_mt_LDADD = $(TAP_LDADD)
check_PROGRAMS += lib/graph/import/test_scan_numbers.t
TESTS += lib/graph/import/test_scan_numbers.t
lib_graph_import_test_scan_numbers_t_SOURCES = lib/graph/import/test_scan_numbers.c
lib_graph_import_test_scan_numbers_t_LDADD = $(TAP_LDADD)

# exports
libhopwave_a_SOURCES += \
  lib/graph/export/export.c \
  lib/graph/export/export.h \
  lib/graph/export/export_gap.c \
  lib/graph/export/export_tree.c \
  lib/graph/export/export_tree.h \
  lib/graph/export/shortest_text.c \
  lib/graph/export/shortest_text.h \
  lib/graph/export/text_output.c \
  lib/graph/export/text_output.h
check_PROGRAMS += lib/graph/export/test_shortest_text.t
TESTS += lib/graph/export/test_shortest_text.t
lib_graph_export_test_shortest_text_t_SOURCES = lib/graph/export/test_shortest_text.c
lib_graph_export_test_shortest_text_t_LDADD = $(TAP_LDADD)
