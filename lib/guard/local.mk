# lib/guard: processes that read what may mean harm
libhopwave_a_SOURCES += \
  lib/guard/guarded_process.c \
  lib/guard/guarded_process.h \
  lib/guard/sandbox.c \
  lib/guard/sandbox.h
check_PROGRAMS += lib/guard/test_guarded_process.t
TESTS += lib/guard/test_guarded_process.t
lib_guard_test_guarded_process_t_SOURCES = lib/guard/test_guarded_process.c
lib_guard_test_guarded_process_t_LDADD = $(TAP_LDADD)
