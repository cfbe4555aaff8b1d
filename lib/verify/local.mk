# lib/verify
libhopwave_a_SOURCES += lib/verify/verify.h
