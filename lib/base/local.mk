# lib/base: status, memory, command lines
libhopwave_a_SOURCES += \
  lib/base/cli.c lib/base/cli.h \
  lib/base/divide.h \
  lib/base/exact.c lib/base/exact.h \
  lib/base/memory.c lib/base/memory.h \
  lib/base/permute.c lib/base/permute.h \
  lib/base/sort.c lib/base/sort.h \
  lib/base/status.c lib/base/status.h \
  lib/base/types.h \
  lib/base/unfinished.c lib/base/unfinished.h
check_PROGRAMS += lib/base/test_base.t
TESTS += lib/base/test_base.t
lib_base_test_base_t_SOURCES = lib/base/test_base.c
lib_base_test_base_t_LDADD = $(TAP_LDADD)
check_PROGRAMS += lib/base/test_sort.t
TESTS += lib/base/test_sort.t
lib_base_test_sort_t_SOURCES = lib/base/test_sort.c
lib_base_test_sort_t_LDADD = $(TAP_LDADD)
check_PROGRAMS += lib/base/test_exact.t
TESTS += lib/base/test_exact.t
lib_base_test_exact_t_SOURCES = lib/base/test_exact.c
lib_base_test_exact_t_LDADD = $(TAP_LDADD)
