# lib/store
libhopwave_a_SOURCES += lib/store/store.h 
