# lib/run: the programs' frame, and what hopwave-traverse does: roots, searches, results
libhopwave_a_SOURCES += \
  lib/run/component_size.c \
  lib/run/component_size.h \
  lib/run/results/journal.c \
  lib/run/results/journal.h \
  lib/run/method_listing.c \
  lib/run/method_listing.h \
  lib/run/part_source.c \
  lib/run/part_source.h \
  lib/run/roots.c \
  lib/run/roots.h \
  lib/run/stage.c \
  lib/run/stage.h \
  lib/run/traversal_state.h \
  lib/run/traverse.c \
  lib/run/traverse_compact.c \
  lib/run/traverse.h \
  lib/run/traverse_options.c \
  lib/run/traverse_options.h \
  lib/run/traverse_resume.c \
  lib/run/traverse_search.c \
  lib/run/traverse_write.c
check_PROGRAMS += lib/run/test_method_descriptors.t
TESTS += lib/run/test_method_descriptors.t
lib_run_test_method_descriptors_t_SOURCES = lib/run/test_method_descriptors.c
lib_run_test_method_descriptors_t_LDADD = $(TAP_LDADD)
check_PROGRAMS += lib/run/test_methods_agree.mt
TESTS += lib/run/test_methods_agree.mt
lib_run_test_methods_agree_mt_SOURCES = lib/run/test_methods_agree.c
lib_run_test_methods_agree_mt_LDADD = $(TAP_LDADD)
check_PROGRAMS += lib/run/test_roots.mt
TESTS += lib/run/test_roots.mt
lib_run_test_roots_mt_SOURCES = lib/run/test_roots.c \
  tests/fixtures/serial_method.c tests/fixtures/serial_method.h
lib_run_test_roots_mt_LDADD = $(TAP_LDADD)
check_PROGRAMS += lib/run/test_tree_slices.mt
TESTS += lib/run/test_tree_slices.mt
lib_run_test_tree_slices_mt_SOURCES = lib/run/test_tree_slices.c \
  tests/fixtures/serial_method.c tests/fixtures/serial_method.h
lib_run_test_tree_slices_mt_LDADD = $(TAP_LDADD)

# what --method auto says of its choice
libhopwave_a_SOURCES += \
  lib/run/auto/auto_policy.c \
  lib/run/auto/auto_policy.h \
  lib/run/auto/graph_traits.c \
  lib/run/auto/graph_traits.h
check_PROGRAMS += lib/run/auto/test_auto_policy.mt
TESTS += lib/run/auto/test_auto_policy.mt
lib_run_auto_test_auto_policy_mt_SOURCES = lib/run/auto/test_auto_policy.c
lib_run_auto_test_auto_policy_mt_LDADD = $(TAP_LDADD)

# one search in memory, of hopwave-search
libhopwave_a_SOURCES += \
  lib/run/single/print_search.c \
  lib/run/single/single_search.c \
  lib/run/single/single_search.h

# what a run measured and found
libhopwave_a_SOURCES += \
  lib/run/results/report.c \
  lib/run/results/report.h \
  lib/run/results/search_results.c \
  lib/run/results/search_results.h \
  lib/run/results/statistics.c \
  lib/run/results/statistics.h
check_PROGRAMS += lib/run/results/test_statistics.t
TESTS += lib/run/results/test_statistics.t
lib_run_results_test_statistics_t_SOURCES = lib/run/results/test_statistics.c
lib_run_results_test_statistics_t_LDADD = $(TAP_LDADD)

# what --probe measures, as a table
libhopwave_a_SOURCES += \
  lib/run/probe/probe.c \
  lib/run/probe/probe.h
