# lib/verify: validation of trees against the input tuples
libhopwave_a_SOURCES += \
  lib/verify/answers.c lib/verify/answers.h \
  lib/verify/ask.c lib/verify/ask.h \
  lib/verify/batch.h \
  lib/verify/chains.c \
  lib/verify/check.c lib/verify/check.h \
  lib/verify/findings.c \
  lib/verify/links.c lib/verify/links.h \
  lib/verify/load.c \
  lib/verify/reference.c lib/verify/reference.h \
  lib/verify/reference_sssp.c \
  lib/verify/rounds.c lib/verify/rounds.h \
  lib/verify/sssp.c \
  lib/verify/rows.c lib/verify/rows.h \
  lib/verify/tally.c lib/verify/tally.h \
  lib/verify/trees.c lib/verify/verify.h \
  lib/verify/tuples.c
verify_test_trees = lib/verify/test_world.c lib/verify/test_world.h \
  lib/verify/test_trees.c lib/verify/test_trees.h lib/verify/test_kinds.c
check_PROGRAMS += lib/verify/test_verify.mt
TESTS += lib/verify/test_verify.mt
lib_verify_test_verify_mt_SOURCES = lib/verify/test_verify.c $(verify_test_trees)
lib_verify_test_verify_mt_LDADD = $(TAP_LDADD)
check_PROGRAMS += lib/verify/test_sssp.mt
TESTS += lib/verify/test_sssp.mt
lib_verify_test_sssp_mt_SOURCES = lib/verify/test_sssp.c $(verify_test_trees)
lib_verify_test_sssp_mt_LDADD = $(TAP_LDADD)
check_PROGRAMS += lib/verify/test_cycles.mt
TESTS += lib/verify/test_cycles.mt
lib_verify_test_cycles_mt_SOURCES = lib/verify/test_cycles.c $(verify_test_trees)
lib_verify_test_cycles_mt_LDADD = $(TAP_LDADD)
check_PROGRAMS += lib/verify/test_reference.mt
TESTS += lib/verify/test_reference.mt
lib_verify_test_reference_mt_SOURCES = lib/verify/test_reference.c $(verify_test_trees)
lib_verify_test_reference_mt_LDADD = $(TAP_LDADD)
