# lib/layout: parts, their options
libhopwave_a_SOURCES += \
  lib/layout/bins.c lib/layout/bins.h \
  lib/layout/build.c lib/layout/build.h \
  lib/layout/build_graph.c \
  lib/layout/check.c lib/layout/check.h \
  lib/layout/collect.c \
  lib/layout/finish.c \
  lib/layout/matrix.c lib/layout/matrix.h \
  lib/layout/options.c lib/layout/options.h \
  lib/layout/order.c \
  lib/layout/part.c lib/layout/part.h \
  lib/layout/place.h \
  lib/layout/pool.c lib/layout/pool.h \
  lib/layout/read.c \
  lib/layout/relabel.c \
  lib/layout/separate.c \
  lib/layout/ship.c lib/layout/ship.h \
  lib/layout/spread.h \
  lib/layout/threshold.c lib/layout/threshold.h \
  lib/layout/vertices.c \
  lib/layout/wire.c lib/layout/wire.h \
  lib/layout/write.c
check_PROGRAMS += lib/layout/test_options.t
TESTS += lib/layout/test_options.t
lib_layout_test_options_t_SOURCES = lib/layout/test_options.c
lib_layout_test_options_t_LDADD = $(TAP_LDADD)
check_PROGRAMS += lib/layout/test_part.t
TESTS += lib/layout/test_part.t
lib_layout_test_part_t_SOURCES = lib/layout/test_part.c
lib_layout_test_part_t_LDADD = $(TAP_LDADD)
check_PROGRAMS += lib/layout/test_build.mt
TESTS += lib/layout/test_build.mt
lib_layout_test_build_mt_SOURCES = \
  lib/layout/test_build.c \
  lib/layout/test_oracle.c lib/layout/test_oracle.h \
  lib/layout/test_toy.c lib/layout/test_toy.h
lib_layout_test_build_mt_LDADD = $(TAP_LDADD)
check_PROGRAMS += lib/layout/test_bins.t
TESTS += lib/layout/test_bins.t
lib_layout_test_bins_t_SOURCES = lib/layout/test_bins.c
lib_layout_test_bins_t_LDADD = $(TAP_LDADD)
check_PROGRAMS += lib/layout/test_file.mt
TESTS += lib/layout/test_file.mt
lib_layout_test_file_mt_SOURCES = \
  lib/layout/test_file.c \
  lib/layout/test_oracle.c lib/layout/test_oracle.h \
  lib/layout/test_toy.c lib/layout/test_toy.h
lib_layout_test_file_mt_LDADD = $(TAP_LDADD)
