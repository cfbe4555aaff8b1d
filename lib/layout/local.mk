# lib/layout
libhopwave_a_SOURCES += lib/layout/part.h 
