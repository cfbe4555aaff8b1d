# lib/engine
libhopwave_a_SOURCES += lib/engine/engine.h 
