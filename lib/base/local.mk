# lib/base: status, memory, command lines, sorts, bitmaps
libhopwave_a_SOURCES += \
  lib/base/bitmap.c \
  lib/base/bitmap.h \
  lib/base/cli.c \
  lib/base/cli.h \
  lib/base/exact_sum.c \
  lib/base/exact_sum.h \
  lib/base/fast_divide.h \
  lib/base/incomplete_file.c \
  lib/base/incomplete_file.h \
  lib/base/memory.c \
  lib/base/memory.h \
  lib/base/nearest_word.c \
  lib/base/nearest_word.h \
  lib/base/permutation.c \
  lib/base/permutation.h \
  lib/base/radix_sort.c \
  lib/base/radix_sort.h \
  lib/base/status.c \
  lib/base/status.h \
  lib/base/types.h
check_PROGRAMS += lib/base/test_base.t
TESTS += lib/base/test_base.t
lib_base_test_base_t_SOURCES = lib/base/test_base.c
lib_base_test_base_t_LDADD = $(TAP_LDADD)
check_PROGRAMS += lib/base/test_bitmap.t
TESTS += lib/base/test_bitmap.t
lib_base_test_bitmap_t_SOURCES = lib/base/test_bitmap.c
lib_base_test_bitmap_t_LDADD = $(TAP_LDADD)
check_PROGRAMS += lib/base/test_exact_sum.t
TESTS += lib/base/test_exact_sum.t
lib_base_test_exact_sum_t_SOURCES = lib/base/test_exact_sum.c
lib_base_test_exact_sum_t_LDADD = $(TAP_LDADD)
check_PROGRAMS += lib/base/test_radix_sort.t
TESTS += lib/base/test_radix_sort.t
lib_base_test_radix_sort_t_SOURCES = lib/base/test_radix_sort.c
lib_base_test_radix_sort_t_LDADD = $(TAP_LDADD)
