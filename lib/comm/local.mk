# lib/comm: ranks, agreement, exchanges, the frame of the programs
libhopwave_a_SOURCES += \
  lib/comm/context.c lib/comm/context.h \
  lib/comm/direct.c lib/comm/direct.h \
  lib/comm/exchange.c lib/comm/exchange.h \
  lib/comm/nodes.c lib/comm/nodes.h \
  lib/comm/nodewise.c lib/comm/nodewise.h \
  lib/comm/stage.c lib/comm/stage.h \
  lib/comm/stop.c lib/comm/stop.h \
  lib/comm/watch.c lib/comm/watch.h \
  lib/comm/yield.c lib/comm/yield.h
check_PROGRAMS += lib/comm/test_comm.mt
TESTS += lib/comm/test_comm.mt
lib_comm_test_comm_mt_SOURCES = lib/comm/test_comm.c
lib_comm_test_comm_mt_LDADD = $(TAP_LDADD)
check_PROGRAMS += lib/comm/test_nodewise.mt
TESTS += lib/comm/test_nodewise.mt
lib_comm_test_nodewise_mt_SOURCES = lib/comm/test_nodewise.c lib/comm/test_letters.h
lib_comm_test_nodewise_mt_LDADD = $(TAP_LDADD)
check_PROGRAMS += lib/comm/test_direct.mt
TESTS += lib/comm/test_direct.mt
lib_comm_test_direct_mt_SOURCES = lib/comm/test_direct.c lib/comm/test_letters.h
lib_comm_test_direct_mt_LDADD = $(TAP_LDADD)
check_PROGRAMS += lib/comm/lose_rank
lib_comm_lose_rank_SOURCES = lib/comm/lose_rank.c
