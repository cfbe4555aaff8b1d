# lib/comm: ranks, agreement, exchanges
libhopwave_a_SOURCES += \
  lib/comm/batched_alltoallv.c \
  lib/comm/batched_alltoallv.h \
  lib/comm/context.c \
  lib/comm/context.h \
  lib/comm/direct_exchange.c \
  lib/comm/direct_exchange.h \
  lib/comm/large_alltoallv.c \
  lib/comm/large_alltoallv.h \
  lib/comm/node_aware_exchange.c \
  lib/comm/node_aware_exchange.h \
  lib/comm/node_topology.c \
  lib/comm/node_topology.h \
  lib/comm/rank_watchdog.c \
  lib/comm/rank_watchdog.h \
  lib/comm/stop_signal.c \
  lib/comm/stop_signal.h \
  lib/comm/transport_kind.h

# To be preloaded into ranks that share cores. A program that is linked as a shared object: one
# library is not worth libtool. No sanitizer, which must come before anything preloaded.
preloaddir = $(pkglibdir)
preload_PROGRAMS = libhopwave-yield.so
libhopwave_yield_so_SOURCES = lib/comm/poll_yield.c
libhopwave_yield_so_CFLAGS = -std=gnu11 $(WARN_CFLAGS) -fPIC
libhopwave_yield_so_LDFLAGS = -shared
libhopwave_yield_so_LDADD = -ldl

check_PROGRAMS += lib/comm/test_comm.mt
TESTS += lib/comm/test_comm.mt
lib_comm_test_comm_mt_SOURCES = lib/comm/test_comm.c
lib_comm_test_comm_mt_LDADD = $(TAP_LDADD)
check_PROGRAMS += lib/comm/test_direct_exchange.mt
TESTS += lib/comm/test_direct_exchange.mt
lib_comm_test_direct_exchange_mt_SOURCES = lib/comm/test_direct_exchange.c \
  tests/fixtures/exchange_trial.h
lib_comm_test_direct_exchange_mt_LDADD = $(TAP_LDADD)
check_PROGRAMS += lib/comm/test_node_aware_exchange.mt
TESTS += lib/comm/test_node_aware_exchange.mt
lib_comm_test_node_aware_exchange_mt_SOURCES = lib/comm/test_node_aware_exchange.c \
  tests/fixtures/exchange_trial.h
lib_comm_test_node_aware_exchange_mt_LDADD = $(TAP_LDADD)
check_PROGRAMS += lib/comm/lose_rank
lib_comm_lose_rank_SOURCES = lib/comm/lose_rank.c
