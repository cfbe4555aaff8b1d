# lib/comm: ranks, agreement, exchanges
libhopwave_a_SOURCES += \
  lib/comm/exchange/batched_alltoallv.c \
  lib/comm/exchange/batched_alltoallv.h \
  lib/comm/context.c \
  lib/comm/context.h \
  lib/comm/probe/link_probe.c \
  lib/comm/probe/link_probe.h \
  lib/comm/device_buffers.c \
  lib/comm/device_buffers.h \
  lib/comm/exchange/bounded_rounds.c \
  lib/comm/exchange/bounded_rounds.h \
  lib/comm/exchange/node_aware.c \
  lib/comm/exchange/node_aware.h \
  lib/comm/exchange/point_to_point.c \
  lib/comm/exchange/point_to_point.h \
  lib/comm/halo_exchange.c \
  lib/comm/halo_exchange.h \
  lib/comm/exchange/halo_map.c \
  lib/comm/exchange/halo_map.h \
  lib/comm/exchange/large_alltoallv.c \
  lib/comm/exchange/large_alltoallv.h \
  lib/comm/exchange/memory_ops.h lib/comm/exchange/message_ops.h \
  lib/comm/start/launcher_watch.c \
  lib/comm/start/launcher_watch.h \
  lib/comm/start/mpi_start.c \
  lib/comm/start/mpi_start.h \
  lib/comm/node_topology.c \
  lib/comm/node_topology.h \
  lib/comm/node_window.c \
  lib/comm/node_window.h \
  lib/comm/exchange/owner_query.c \
  lib/comm/exchange/owner_query.h \
  lib/comm/exchange/owner_ranges.h \
  lib/comm/watch/host_link.c \
  lib/comm/watch/host_link.h \
  lib/comm/watch/host_ring.c \
  lib/comm/watch/host_ring.h \
  lib/comm/watch/rank_watchdog.c \
  lib/comm/watch/rank_watchdog.h \
  lib/comm/stop_signal.c \
  lib/comm/stop_signal.h \
  lib/comm/traffic.c \
  lib/comm/traffic.h \
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
check_PROGRAMS += lib/comm/test_node_window.mt
TESTS += lib/comm/test_node_window.mt
lib_comm_test_node_window_mt_SOURCES = lib/comm/test_node_window.c
lib_comm_test_node_window_mt_LDADD = $(TAP_LDADD)
check_PROGRAMS += lib/comm/probe/test_link_probe.mt
TESTS += lib/comm/probe/test_link_probe.mt
lib_comm_probe_test_link_probe_mt_SOURCES = lib/comm/probe/test_link_probe.c
lib_comm_probe_test_link_probe_mt_LDADD = $(TAP_LDADD)
check_PROGRAMS += lib/comm/exchange/test_point_to_point.mt
TESTS += lib/comm/exchange/test_point_to_point.mt
lib_comm_exchange_test_point_to_point_mt_SOURCES = lib/comm/exchange/test_point_to_point.c \
  tests/fixtures/exchange_trial.h
lib_comm_exchange_test_point_to_point_mt_LDADD = $(TAP_LDADD)
check_PROGRAMS += lib/comm/exchange/test_node_aware.mt
TESTS += lib/comm/exchange/test_node_aware.mt
lib_comm_exchange_test_node_aware_mt_SOURCES = lib/comm/exchange/test_node_aware.c \
  tests/fixtures/exchange_trial.h
lib_comm_exchange_test_node_aware_mt_LDADD = $(TAP_LDADD)
check_PROGRAMS += lib/comm/watch/lose_rank
lib_comm_watch_lose_rank_SOURCES = lib/comm/watch/lose_rank.c
EXTRA_DIST += lib/comm/exchange/README.md
