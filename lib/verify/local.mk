# lib/verify: validation of trees against the input tuples
libhopwave_a_SOURCES += \
  lib/verify/check_report.c \
  lib/verify/listed_vertices.c \
  lib/verify/listed_vertices.h \
  lib/verify/recorded_outcomes.c \
  lib/verify/recorded_outcomes.h \
  lib/verify/tree_check.c \
  lib/verify/tree_check.h \
  lib/verify/tree_head.c \
  lib/verify/tree_head.h \
  lib/verify/verify.h

# the rules
libhopwave_a_SOURCES += \
  lib/verify/rules/edge_check.c \
  lib/verify/rules/edge_check.h \
  lib/verify/rules/edge_exchange.c \
  lib/verify/rules/edge_exchange.h \
  lib/verify/rules/input_edge_rules.c \
  lib/verify/rules/load_trees.c \
  lib/verify/rules/parent_edge_hash.c \
  lib/verify/rules/parent_edge_hash.h \
  lib/verify/rules/parent_pointer_jump.c \
  lib/verify/rules/root_batch.h \
  lib/verify/rules/sssp_rules.c \
  lib/verify/rules/tree_rules.c \
  lib/verify/rules/vertex_rows.c \
  lib/verify/rules/vertex_rows.h \
  lib/verify/rules/violation_counts.c \
  lib/verify/rules/violation_counts.h

# an independent serial search
libhopwave_a_SOURCES += \
  lib/verify/reference/reference.h \
  lib/verify/reference/reference_bfs.c \
  lib/verify/reference/reference_sssp.c

verify_fixtures = tests/fixtures/validation_graphs.c tests/fixtures/validation_graphs.h \
  tests/fixtures/broken_trees.c tests/fixtures/broken_trees.h tests/fixtures/tree_kinds.c
check_PROGRAMS += lib/verify/test_cycles.mt
TESTS += lib/verify/test_cycles.mt
lib_verify_test_cycles_mt_SOURCES = lib/verify/test_cycles.c \
  $(verify_fixtures)
lib_verify_test_cycles_mt_LDADD = $(TAP_LDADD)
check_PROGRAMS += lib/verify/test_sssp.mt
TESTS += lib/verify/test_sssp.mt
lib_verify_test_sssp_mt_SOURCES = lib/verify/test_sssp.c \
  $(verify_fixtures)
lib_verify_test_sssp_mt_LDADD = $(TAP_LDADD)
check_PROGRAMS += lib/verify/test_verify.mt
TESTS += lib/verify/test_verify.mt
lib_verify_test_verify_mt_SOURCES = lib/verify/test_verify.c \
  $(verify_fixtures)
lib_verify_test_verify_mt_LDADD = $(TAP_LDADD)
check_PROGRAMS += lib/verify/reference/test_reference.mt
TESTS += lib/verify/reference/test_reference.mt
lib_verify_reference_test_reference_mt_SOURCES = lib/verify/reference/test_reference.c \
  $(verify_fixtures)
lib_verify_reference_test_reference_mt_LDADD = $(TAP_LDADD)
