# lib/layout: parts, their options
libhopwave_a_SOURCES += \
  lib/layout/options.c lib/layout/options.h \
  lib/layout/part.h
check_PROGRAMS += lib/layout/test_options.t
TESTS += lib/layout/test_options.t
lib_layout_test_options_t_SOURCES = lib/layout/test_options.c
lib_layout_test_options_t_LDADD = $(TAP_LDADD)
