# lib/engine: search methods on CPUs

# what all methods share: the method table, options, results, traces, exchanges
libhopwave_a_SOURCES += \
  lib/engine/core/algorithm.h \
  lib/engine/core/arrays.c \
  lib/engine/core/arrays.h \
  lib/engine/core/cpu_method_list.h \
  lib/engine/core/engine_options.c \
  lib/engine/core/engine_options.h \
  lib/engine/core/method.h \
  lib/engine/core/method_descriptor.h \
  lib/engine/core/method_registry.c \
  lib/engine/core/result.c \
  lib/engine/core/result.h \
  lib/engine/core/row_column_exchange.c \
  lib/engine/core/row_column_exchange.h \
  lib/engine/core/spin_wait.h \
  lib/engine/core/trace.c \
  lib/engine/core/trace.h \
  lib/engine/core/tree_cache.h \
  lib/engine/core/tree_slices.c \
  lib/engine/core/tree_slices.h

# options of methods, as data
libhopwave_a_SOURCES += \
  lib/engine/options/method_option.c \
  lib/engine/options/method_option.h

# serial baselines
libhopwave_a_SOURCES += \
  lib/engine/serial/dijkstra.c \
  lib/engine/serial/sequential_bfs.c

# breadth-first search on 1d and 2d parts
libhopwave_a_SOURCES += \
  lib/engine/bfs_2d/grid.h \
  lib/engine/bfs_2d/grid_bottom_up.c \
  lib/engine/bfs_2d/grid_result.c \
  lib/engine/bfs_2d/grid_search.c \
  lib/engine/bfs_2d/grid_setup.c \
  lib/engine/bfs_2d/grid_shared.c \
  lib/engine/bfs_2d/grid_small_levels.c \
  lib/engine/bfs_2d/grid_top_down.c \
  lib/engine/bfs_2d/grid_wide_level.c
check_PROGRAMS += lib/engine/bfs_2d/test_grid.mt
TESTS += lib/engine/bfs_2d/test_grid.mt
lib_engine_bfs_2d_test_grid_mt_SOURCES = lib/engine/bfs_2d/test_grid.c
lib_engine_bfs_2d_test_grid_mt_LDADD = $(TAP_LDADD)

# breadth-first search on degree-separated parts
libhopwave_a_SOURCES += \
  lib/engine/bfs_delegates/delegates_arrays.c \
  lib/engine/bfs_delegates/delegates_exchange.c \
  lib/engine/bfs_delegates/delegates_frontier.c \
  lib/engine/bfs_delegates/delegates_options.c \
  lib/engine/bfs_delegates/delegates_options.h \
  lib/engine/bfs_delegates/delegates_search.c \
  lib/engine/bfs_delegates/delegates_state.h \
  lib/engine/bfs_delegates/delegates_tree_parents.c \
  lib/engine/bfs_delegates/delegates_visit.c
check_PROGRAMS += lib/engine/bfs_delegates/test_delegates.mt
TESTS += lib/engine/bfs_delegates/test_delegates.mt
lib_engine_bfs_delegates_test_delegates_mt_SOURCES = lib/engine/bfs_delegates/test_delegates.c \
  tests/fixtures/growable_graph.c tests/fixtures/growable_graph.h
lib_engine_bfs_delegates_test_delegates_mt_LDADD = $(TAP_LDADD)

# shortest paths: what their methods share
libhopwave_a_SOURCES += \
  lib/engine/sssp/delta_heuristic.c \
  lib/engine/sssp/delta_heuristic.h \
  lib/engine/sssp/distance.h \
  lib/engine/sssp/negative_cycle.c \
  lib/engine/sssp/negative_cycle.h \
  lib/engine/sssp/sorted_csr.c \
  lib/engine/sssp/sorted_csr.h \
  lib/engine/sssp/sssp_options.c \
  lib/engine/sssp/sssp_options.h \
  lib/engine/sssp/weight_stats.c \
  lib/engine/sssp/weight_stats.h
check_PROGRAMS += lib/engine/sssp/test_sorted_csr.t
TESTS += lib/engine/sssp/test_sorted_csr.t
lib_engine_sssp_test_sorted_csr_t_SOURCES = lib/engine/sssp/test_sorted_csr.c
lib_engine_sssp_test_sorted_csr_t_LDADD = $(TAP_LDADD)
check_PROGRAMS += lib/engine/sssp/test_negative_cycle.mt
TESTS += lib/engine/sssp/test_negative_cycle.mt
lib_engine_sssp_test_negative_cycle_mt_SOURCES = lib/engine/sssp/test_negative_cycle.c
lib_engine_sssp_test_negative_cycle_mt_LDADD = $(TAP_LDADD)

# shortest paths of threads that share memory
libhopwave_a_SOURCES += \
  lib/engine/sssp_shared/async_delta.c \
  lib/engine/sssp_shared/async_delta.h \
  lib/engine/sssp_shared/work_queue.c \
  lib/engine/sssp_shared/work_queue.h
check_PROGRAMS += lib/engine/sssp_shared/test_async_delta.t
TESTS += lib/engine/sssp_shared/test_async_delta.t
lib_engine_sssp_shared_test_async_delta_t_SOURCES = \
  lib/engine/sssp_shared/test_async_delta.c tests/fixtures/weight_draws.h
lib_engine_sssp_shared_test_async_delta_t_LDADD = $(TAP_LDADD)

# shortest paths on 1d and 2d parts
libhopwave_a_SOURCES += \
  lib/engine/sssp_2d/bellman_ford.c \
  lib/engine/sssp_2d/delta_asynchronous.c \
  lib/engine/sssp_2d/delta_stepping.c \
  lib/engine/sssp_2d/sssp_2d.h \
  lib/engine/sssp_2d/sssp_2d_exchange.c \
  lib/engine/sssp_2d/sssp_2d_relax.c \
  lib/engine/sssp_2d/sssp_2d_result.c \
  lib/engine/sssp_2d/sssp_2d_search.c \
  lib/engine/sssp_2d/sssp_2d_setup.c \
  lib/engine/sssp_2d/sssp_2d_shared.c
check_PROGRAMS += lib/engine/sssp_2d/test_sssp_2d.mt
TESTS += lib/engine/sssp_2d/test_sssp_2d.mt
lib_engine_sssp_2d_test_sssp_2d_mt_SOURCES = lib/engine/sssp_2d/test_sssp_2d.c \
  tests/fixtures/sssp_trial.c tests/fixtures/sssp_trial.h \
  tests/fixtures/weight_draws.h
lib_engine_sssp_2d_test_sssp_2d_mt_LDADD = $(TAP_LDADD)
check_PROGRAMS += lib/engine/sssp_2d/test_sssp_2d_negative.mt
TESTS += lib/engine/sssp_2d/test_sssp_2d_negative.mt
lib_engine_sssp_2d_test_sssp_2d_negative_mt_SOURCES = \
  lib/engine/sssp_2d/test_sssp_2d_negative.c \
  tests/fixtures/sssp_trial.c tests/fixtures/sssp_trial.h
lib_engine_sssp_2d_test_sssp_2d_negative_mt_LDADD = $(TAP_LDADD)

# shortest paths on degree-separated parts
libhopwave_a_SOURCES += \
  lib/engine/sssp_delegates/canonical_parents.c \
  lib/engine/sssp_delegates/search_parents.c \
  lib/engine/sssp_delegates/sssp_delegates.h \
  lib/engine/sssp_delegates/sssp_delegates_arrays.c \
  lib/engine/sssp_delegates/sssp_delegates_csr.c \
  lib/engine/sssp_delegates/sssp_delegates_exchange.c \
  lib/engine/sssp_delegates/sssp_delegates_negative.c \
  lib/engine/sssp_delegates/sssp_delegates_relax.c \
  lib/engine/sssp_delegates/sssp_delegates_search.c \
  lib/engine/sssp_delegates/sssp_delegates_setup.c
check_PROGRAMS += lib/engine/sssp_delegates/test_sssp_delegates.mt
TESTS += lib/engine/sssp_delegates/test_sssp_delegates.mt
lib_engine_sssp_delegates_test_sssp_delegates_mt_SOURCES = lib/engine/sssp_delegates/test_sssp_delegates.c \
  tests/fixtures/delegates_trial.c tests/fixtures/delegates_trial.h \
  tests/fixtures/growable_graph.c tests/fixtures/growable_graph.h
lib_engine_sssp_delegates_test_sssp_delegates_mt_LDADD = $(TAP_LDADD)
check_PROGRAMS += lib/engine/sssp_delegates/test_sssp_delegates_negative.mt
TESTS += lib/engine/sssp_delegates/test_sssp_delegates_negative.mt
lib_engine_sssp_delegates_test_sssp_delegates_negative_mt_SOURCES = \
  lib/engine/sssp_delegates/test_sssp_delegates_negative.c \
  tests/fixtures/delegates_trial.c tests/fixtures/delegates_trial.h \
  tests/fixtures/growable_graph.c tests/fixtures/growable_graph.h
lib_engine_sssp_delegates_test_sssp_delegates_negative_mt_LDADD = $(TAP_LDADD)
