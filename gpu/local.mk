# gpu: the CUDA engines behind hopwave_gpu.h, or the stub that offers none
libhopwave_a_SOURCES += gpu/hopwave_gpu.h
if HAVE_CUDA
libhopwave_a_SOURCES += gpu/methods_stub.c
else
libhopwave_a_SOURCES += gpu/methods_stub.c
endif
