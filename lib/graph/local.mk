# lib/graph
libhopwave_a_SOURCES += lib/graph/graph.h 
