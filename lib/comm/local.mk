# lib/comm: ranks, agreement, exchanges
libhopwave_a_SOURCES += lib/comm/context.c lib/comm/context.h
