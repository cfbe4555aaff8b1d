# lib/graph: tuples from files and recipes, and the generators
libhopwave_a_SOURCES += \
  lib/graph/cycle.c lib/graph/cycle.h \
  lib/graph/export.c lib/graph/export.h lib/graph/export_lists.c \
  lib/graph/export_tree.c lib/graph/export_tree.h \
  lib/graph/graph.c lib/graph/graph.h \
  lib/graph/generator.h \
  lib/graph/graph500.c lib/graph/graph500.h \
  lib/graph/labels.c lib/graph/labels.h \
  lib/graph/mrg.c lib/graph/mrg.h \
  lib/graph/output.c lib/graph/output.h \
  lib/graph/pairs.c lib/graph/pairs.h \
  lib/graph/random.c lib/graph/random.h \
  lib/graph/recipe.c lib/graph/recipe.h \
  lib/graph/rmat.c lib/graph/rmat.h \
  lib/graph/weights.c lib/graph/weights.h \
  lib/graph/write.c lib/graph/write.h
check_PROGRAMS += lib/graph/test_graph500.t lib/graph/test_rmat.t lib/graph/test_pairs.t \
  lib/graph/test_weights.t
TESTS += lib/graph/test_graph500.t lib/graph/test_rmat.t lib/graph/test_pairs.t \
  lib/graph/test_weights.t
lib_graph_test_graph500_t_SOURCES = lib/graph/test_graph500.c
lib_graph_test_graph500_t_LDADD = $(TAP_LDADD)
lib_graph_test_rmat_t_SOURCES = lib/graph/test_rmat.c
lib_graph_test_rmat_t_LDADD = $(TAP_LDADD)
lib_graph_test_pairs_t_SOURCES = lib/graph/test_pairs.c
lib_graph_test_pairs_t_LDADD = $(TAP_LDADD)
lib_graph_test_weights_t_SOURCES = lib/graph/test_weights.c
lib_graph_test_weights_t_LDADD = $(TAP_LDADD)
check_PROGRAMS += lib/graph/test_graph.mt
TESTS += lib/graph/test_graph.mt
lib_graph_test_graph_mt_SOURCES = lib/graph/test_graph.c
lib_graph_test_graph_mt_LDADD = $(TAP_LDADD)
check_PROGRAMS += lib/graph/test_labels.mt
TESTS += lib/graph/test_labels.mt
lib_graph_test_labels_mt_SOURCES = lib/graph/test_labels.c
lib_graph_test_labels_mt_LDADD = $(TAP_LDADD)
# Imports.
libhopwave_a_SOURCES += lib/graph/import.c lib/graph/import.h lib/graph/import_reader.h
libhopwave_a_SOURCES += lib/graph/import_steps.h
libhopwave_a_SOURCES += lib/graph/import_fields.c lib/graph/import_fields.h
libhopwave_a_SOURCES += lib/graph/import_job.h
libhopwave_a_SOURCES += lib/graph/import_parse.c
libhopwave_a_SOURCES += lib/graph/import_stream.c
libhopwave_a_SOURCES += lib/graph/import_write.c
libhopwave_a_SOURCES += lib/graph/import_edges.c
libhopwave_a_SOURCES += lib/graph/import_mtx.c
libhopwave_a_SOURCES += lib/graph/import_gr.c
libhopwave_a_SOURCES += lib/graph/import_metis.c
libhopwave_a_SOURCES += lib/graph/import_resolve.c
libhopwave_a_SOURCES += lib/graph/import_match.c
libhopwave_a_SOURCES += lib/graph/import_compact.c
libhopwave_a_SOURCES += lib/graph/import_sparse.c
libhopwave_a_SOURCES += lib/graph/import_fold.c lib/graph/import_draw.c
libhopwave_a_SOURCES += lib/graph/import_digest.c
libhopwave_a_SOURCES += lib/graph/import_lists.c
libhopwave_a_SOURCES += lib/graph/import_packed.c
libhopwave_a_SOURCES += lib/graph/input.c
libhopwave_a_SOURCES += lib/graph/input_unpack.c
libhopwave_a_SOURCES += lib/graph/scan.c lib/graph/scan.h
check_PROGRAMS += lib/graph/test_scan.t
TESTS += lib/graph/test_scan.t
lib_graph_test_scan_t_SOURCES = lib/graph/test_scan.c
lib_graph_test_scan_t_LDADD = $(TAP_LDADD)
check_PROGRAMS += lib/graph/test_import.mt
TESTS += lib/graph/test_import.mt
lib_graph_test_import_mt_SOURCES = lib/graph/test_import.c
lib_graph_test_import_mt_LDADD = $(TAP_LDADD)
check_PROGRAMS += lib/graph/test_tuple.t
TESTS += lib/graph/test_tuple.t
lib_graph_test_tuple_t_SOURCES = lib/graph/test_tuple.c
lib_graph_test_tuple_t_LDADD = $(TAP_LDADD)
