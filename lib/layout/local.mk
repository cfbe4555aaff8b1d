# lib/layout: parts, their options
libhopwave_a_SOURCES += \
  lib/layout/build.c \
  lib/layout/build_graph.c \
  lib/layout/options.c lib/layout/options.h \
  lib/layout/oracle.c lib/layout/oracle.h \
  lib/layout/part.c lib/layout/part.h \
  lib/layout/threshold.c lib/layout/threshold.h
check_PROGRAMS += lib/layout/test_options.t
TESTS += lib/layout/test_options.t
lib_layout_test_options_t_SOURCES = lib/layout/test_options.c
lib_layout_test_options_t_LDADD = $(TAP_LDADD)
check_PROGRAMS += lib/layout/test_part.t
TESTS += lib/layout/test_part.t
lib_layout_test_part_t_SOURCES = lib/layout/test_part.c
lib_layout_test_part_t_LDADD = $(TAP_LDADD)
