# lib/engine: methods
libhopwave_a_SOURCES += lib/engine/engine.h
libhopwave_a_SOURCES += lib/engine/method.c lib/engine/method.h lib/engine/steps.c
