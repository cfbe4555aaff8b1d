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
  lib/comm/poll_yield.c \
  lib/comm/poll_yield.h \
  lib/comm/rank_watchdog.c \
  lib/comm/rank_watchdog.h \
  lib/comm/stop_signal.c \
  lib/comm/stop_signal.h \
  lib/comm/transport_kind.h
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
