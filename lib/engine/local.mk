# lib/engine: methods
libhopwave_a_SOURCES += lib/engine/engine.h
libhopwave_a_SOURCES += lib/engine/method.c lib/engine/method.h lib/engine/steps.c \
  lib/engine/relaxing.c lib/engine/relaxing.h lib/engine/dijkstra.c

# what drives and measures them
libhopwave_a_SOURCES += \
  lib/engine/component.c lib/engine/component.h \
  lib/engine/journal.c lib/engine/journal.h \
  lib/engine/negative.c lib/engine/negative.h \
  lib/engine/outcomes.c lib/engine/outcomes.h \
  lib/engine/report.c lib/engine/report.h \
  lib/engine/result.c lib/engine/result.h \
  lib/engine/roots.c lib/engine/roots.h \
  lib/engine/source.c lib/engine/source.h \
  lib/engine/statistics.c lib/engine/statistics.h \
  lib/engine/survey.c lib/engine/survey.h \
  lib/engine/traverse.c lib/engine/traverse.h lib/engine/traversal.h \
  lib/engine/traverse_resume.c lib/engine/traverse_search.c lib/engine/traverse_write.c \
  lib/engine/tree.c lib/engine/tree.h
check_PROGRAMS += lib/engine/test_statistics.t
TESTS += lib/engine/test_statistics.t
lib_engine_test_statistics_t_SOURCES = lib/engine/test_statistics.c
lib_engine_test_statistics_t_LDADD = $(TAP_LDADD)
check_PROGRAMS += lib/engine/test_roots.mt
TESTS += lib/engine/test_roots.mt
lib_engine_test_roots_mt_SOURCES = lib/engine/test_roots.c lib/engine/toy.c lib/engine/toy.h
lib_engine_test_roots_mt_LDADD = $(TAP_LDADD)
check_PROGRAMS += lib/engine/test_negative.mt
TESTS += lib/engine/test_negative.mt
lib_engine_test_negative_mt_SOURCES = lib/engine/test_negative.c
lib_engine_test_negative_mt_LDADD = $(TAP_LDADD)
check_PROGRAMS += lib/engine/test_tree.mt
TESTS += lib/engine/test_tree.mt
lib_engine_test_tree_mt_SOURCES = lib/engine/test_tree.c lib/engine/toy.c lib/engine/toy.h
lib_engine_test_tree_mt_LDADD = $(TAP_LDADD)

# method sequential, a baseline
libhopwave_a_SOURCES += lib/engine/sequential.c

# messages of the methods on degree-separated parts
libhopwave_a_SOURCES += lib/engine/legs.c lib/engine/legs.h

# method delegates
libhopwave_a_SOURCES += \
  lib/engine/delegates.c lib/engine/delegates_state.h \
  lib/engine/delegates_exchange.c lib/engine/delegates_frontier.c \
  lib/engine/delegates_parents.c lib/engine/delegates_visit.c
check_PROGRAMS += lib/engine/test_delegates.mt
TESTS += lib/engine/test_delegates.mt
lib_engine_test_delegates_mt_SOURCES = lib/engine/test_delegates.c \
  lib/engine/test_graph.c lib/engine/test_graph.h
lib_engine_test_delegates_mt_LDADD = $(TAP_LDADD)

# method grid
libhopwave_a_SOURCES += \
  lib/engine/bits.c lib/engine/bits.h \
  lib/engine/grid.c lib/engine/grid.h \
  lib/engine/grid_bottom_up.c \
  lib/engine/grid_result.c \
  lib/engine/grid_setup.c \
  lib/engine/grid_top_down.c \
  lib/engine/line.c lib/engine/line.h
check_PROGRAMS += lib/engine/test_grid.mt
TESTS += lib/engine/test_grid.mt
lib_engine_test_grid_mt_SOURCES = lib/engine/test_grid.c
lib_engine_test_grid_mt_LDADD = $(TAP_LDADD)
check_PROGRAMS += lib/engine/test_bits.t
TESTS += lib/engine/test_bits.t
lib_engine_test_bits_t_SOURCES = lib/engine/test_bits.c
lib_engine_test_bits_t_LDADD = $(TAP_LDADD)

# shortest paths: what their methods share
libhopwave_a_SOURCES += \
  lib/engine/arrays.c lib/engine/arrays.h \
  lib/engine/distance.h \
  lib/engine/lists.c lib/engine/lists.h \
  lib/engine/width.c lib/engine/width.h
check_PROGRAMS += lib/engine/test_lists.t
TESTS += lib/engine/test_lists.t
lib_engine_test_lists_t_SOURCES = lib/engine/test_lists.c
lib_engine_test_lists_t_LDADD = $(TAP_LDADD)

# methods delta and bellman-ford on grids
libhopwave_a_SOURCES += \
  lib/engine/bellman_ford.c lib/engine/delta.c \
  lib/engine/paths.c lib/engine/paths.h \
  lib/engine/paths_exchange.c lib/engine/paths_result.c \
  lib/engine/paths_scan.c lib/engine/paths_setup.c
check_PROGRAMS += lib/engine/test_paths.mt
TESTS += lib/engine/test_paths.mt
lib_engine_test_paths_mt_SOURCES = lib/engine/test_paths.c
lib_engine_test_paths_mt_LDADD = $(TAP_LDADD)

# methods delta and bellman-ford on degree-separated parts
libhopwave_a_SOURCES += \
  lib/engine/separate.h \
  lib/engine/separate_exchange.c \
  lib/engine/separate_hops.c \
  lib/engine/separate_lists.c \
  lib/engine/separate_negative.c \
  lib/engine/separate_parents.c \
  lib/engine/separate_scan.c \
  lib/engine/separate_search.c \
  lib/engine/separate_setup.c
check_PROGRAMS += lib/engine/test_paths_separate.mt
TESTS += lib/engine/test_paths_separate.mt
lib_engine_test_paths_separate_mt_SOURCES = lib/engine/test_paths_separate.c \
  lib/engine/test_graph.c lib/engine/test_graph.h
lib_engine_test_paths_separate_mt_LDADD = $(TAP_LDADD)

# all methods of shortest paths
check_PROGRAMS += lib/engine/test_agree.mt
TESTS += lib/engine/test_agree.mt
lib_engine_test_agree_mt_SOURCES = lib/engine/test_agree.c
lib_engine_test_agree_mt_LDADD = $(TAP_LDADD)
