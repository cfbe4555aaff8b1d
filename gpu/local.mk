# gpu: the CUDA engines behind hopwave_gpu.h, or the stub that offers none
#
# Host code is C; the .cu files hold kernels and their C launchers. nvcc compiles
# those for every architecture of --with-cuda-arch, and PTX of the last for later
# ones, side by side.
kernels = gpu/shared_kernels.cu gpu/paths_kernel.cu gpu/paths_build.cu gpu/fused_kernel.cu
kernel_includes = gpu/kernels.h gpu/graph.h gpu/lists.cuh gpu/paths.h gpu/paths.cuh gpu/fused.h
kernels += gpu/fused_prepare.cu
kernel_includes += gpu/fused_device.cuh gpu/fused_block.cuh gpu/fused_push.cuh gpu/fused_pull.cuh
# On several GPUs:
kernels += gpu/share_kernel.cu gpu/share_make_kernel.cu gpu/node_kernel.cu
kernel_includes += gpu/warp.cuh gpu/tested.cuh gpu/tiles.cuh
node_includes = gpu/node_device.cuh gpu/node_push.cuh gpu/node_pull.cuh
parts_includes = gpu/share.h gpu/share_kernels.h gpu/share_make.h gpu/node.h gpu/node_choice.h
parts_sources = gpu/collective.c gpu/staging.c gpu/reach.c gpu/transport.c gpu/parts.c gpu/share_build.c gpu/share_make.c gpu/node.c gpu/node_steps.c
EXTRA_DIST += $(parts_includes) $(node_includes) $(parts_sources) gpu/collective.h gpu/staging.h gpu/reach.h gpu/transport.h gpu/parts.h gpu/share_build.h gpu/share_resident.h \
  gpu/node_steps.h
EXTRA_DIST += $(kernels) $(kernel_includes) gpu/methods_stub.c gpu/methods.c gpu/methods.h \
  gpu/device.c gpu/device.h gpu/engine.c gpu/engine.h gpu/degree.c gpu/degree.h gpu/lists.c gpu/lists.h gpu/paths.c gpu/fused.c

# graphs built and laid out, and trees validated, on the device
builder_sources = gpu/builder.c gpu/builder.h gpu/held.c gpu/held.h gpu/verify.c gpu/verify.h \
  gpu/checking.c gpu/checking.h gpu/found.h gpu/counting.c gpu/counting.h \
  gpu/passes.c gpu/passes.h gpu/layout.c gpu/laying.c gpu/laying.h gpu/own.c gpu/own.h
kernels += gpu/builder_kernel.cu gpu/vertices_kernel.cu gpu/sort_kernel.cu gpu/check_kernel.cu gpu/count_kernel.cu
kernel_includes += gpu/sort.h gpu/vertices.h gpu/tuples.h gpu/tuples.cuh gpu/check.h gpu/count.h
EXTRA_DIST += $(builder_sources) gpu/test_check.c gpu/test_layout.c
if HAVE_CUDA
libhopwave_a_SOURCES += $(builder_sources)
gpu_tests = gpu/test_check.mt gpu/test_layout.t gpu/test_round.mt
check_PROGRAMS += gpu/test_check.mt
TESTS += gpu/test_check.mt
gpu_test_check_mt_SOURCES = gpu/test_check.c lib/verify/test_world.c lib/verify/test_world.h
gpu_test_check_mt_LDADD = $(TAP_LDADD)
check_PROGRAMS += gpu/test_layout.t
TESTS += gpu/test_layout.t
gpu_test_layout_t_SOURCES = gpu/test_layout.c lib/verify/test_world.c lib/verify/test_world.h
gpu_test_layout_t_LDADD = $(TAP_LDADD)
endif

# what several GPUs agree on between kernels
kernels += gpu/round_kernel.cu
EXTRA_DIST += gpu/round.h gpu/round.cuh gpu/round.c gpu/post.h gpu/post.c gpu/test_round.c
if HAVE_CUDA
libhopwave_a_SOURCES += gpu/round.c gpu/post.c
check_PROGRAMS += gpu/test_round.mt
TESTS += gpu/test_round.mt
gpu_test_round_mt_SOURCES = gpu/test_round.c
gpu_test_round_mt_LDADD = $(TAP_LDADD)
endif

# shortest paths on several GPUs
kernels += gpu/routes_kernel.cu gpu/routes_fused_kernel.cu
routes_sources = gpu/routes.c gpu/routes_lists.c gpu/routes_parents.c gpu/routes_rounds.c \
  gpu/routes_search.c gpu/routes_fused.c
EXTRA_DIST += $(routes_sources) gpu/routes.h gpu/routes_host.h gpu/routes_fused.h
kernel_includes += gpu/routes.cuh gpu/routes_push.cuh gpu/routes_pull.cuh gpu/routes_pack.cuh
kernel_includes += gpu/routes_fused.cuh gpu/routes_fused_push.cuh gpu/routes_fused_pull.cuh
if HAVE_CUDA
libhopwave_a_SOURCES += $(routes_sources)
endif

# methods merge and scan2d and their baselines
kernels += gpu/merge_kernel.cu gpu/scan2d_kernel.cu gpu/scan2d_parts_kernel.cu \
  gpu/scan2d_turn_kernel.cu
kernel_includes += gpu/queue.h gpu/queue.cuh gpu/merge.h gpu/scan2d.h gpu/scan2d.cuh gpu/scan2d_few.cuh \
  gpu/scan2d_up.cuh
scan2d_parts_sources = gpu/scan2d_parts.c gpu/scan2d_fetch.c gpu/scan2d_canon.c \
  gpu/scan2d_order.c
EXTRA_DIST += gpu/queue.c gpu/queue_host.h gpu/merge.c gpu/scan2d.c $(scan2d_parts_sources) \
  gpu/scan2d_parts.h gpu/scan2d_state.h
if HAVE_CUDA
libhopwave_a_SOURCES += gpu/queue.c gpu/queue_host.h gpu/merge.c gpu/scan2d.c $(scan2d_parts_sources)
endif

# method delegates
kernels += gpu/delegates_kernel.cu gpu/delegates_ends.cu
kernel_includes += gpu/delegates.h gpu/delegates_device.cuh gpu/delegates_visit.cuh \
  gpu/delegates_step.cuh gpu/delegates_small.cuh
delegates_sources = gpu/delegates.c gpu/delegates_graph.c gpu/delegates_graph.h gpu/delegates_run.c gpu/delegates_carry.c gpu/delegates_parents.c gpu/delegates_search.h
EXTRA_DIST += $(delegates_sources)
if HAVE_CUDA
libhopwave_a_SOURCES += $(delegates_sources)
endif

kernels += gpu/delta_kernel.cu gpu/delta_front.cu
kernel_includes += gpu/keys.cuh gpu/bucket_queues.cuh gpu/bucket_lists.cuh
kernel_includes += gpu/delta.h gpu/delta_device.cuh gpu/delta_pass.cuh gpu/delta_push.cuh gpu/delta_pull.cuh
EXTRA_DIST += gpu/delta.c
kernels += gpu/bellman_kernel.cu gpu/bellman_f32.cu gpu/bellman_i32.cu gpu/bellman_i64.cu
kernel_includes += gpu/bellman.h gpu/bellman.cuh gpu/bellman_run.h gpu/bellman_run.cuh
bellman_sources = gpu/bellman.c gpu/bellman_host.c gpu/near_far.c
EXTRA_DIST += $(bellman_sources) gpu/bellman_host.h gpu/bellman_dynamic.cu
kernels += gpu/adaptive_kernel.cu gpu/enqueue_kernel.cu
kernel_includes += gpu/adaptive.h gpu/adaptive_device.cuh gpu/adaptive_scan.cuh gpu/adaptive_push.cuh
kernel_includes += gpu/adaptive_pull.cuh gpu/enqueue.h gpu/machine.cuh

# devices emulated on processors, for tests where there is no GPU
emulated = gpu/emulated/lanes.cc gpu/emulated/runtime.cc
emulated_includes = gpu/emulated/include
EXTRA_DIST += $(emulated) $(emulated_includes) gpu/emulated/lanes.h gpu/emulated/launch.h \
  gpu/emulated/machine.cuh gpu/emulated/launches.py gpu/emulated/test_emulated.cu

EXTRA_DIST += gpu/adaptive.c
libhopwave_a_SOURCES += gpu/hopwave_gpu.h
if HAVE_CUDA
AM_CPPFLAGS += $(CUDA_CFLAGS)
LDADD += $(CUDA_LIBS)
libhopwave_a_SOURCES += gpu/methods.c gpu/device.c gpu/engine.c gpu/degree.c gpu/lists.c gpu/paths.c gpu/fused.c
libhopwave_a_SOURCES += $(parts_sources)
libhopwave_a_SOURCES += gpu/delta.c
libhopwave_a_SOURCES += $(bellman_sources)
libhopwave_a_SOURCES += gpu/adaptive.c
libhopwave_a_LIBADD += $(kernels:.cu=.o)
CLEANFILES += $(kernels:.cu=.o)
# Kernels that launch kernels are relocatable, and linked on their own.
dynamic_kernels = gpu/bellman_dynamic.o
libhopwave_a_LIBADD += $(dynamic_kernels)
CLEANFILES += $(dynamic_kernels)
if EMULATED
libhopwave_a_LIBADD += $(emulated:.cc=.o)
CLEANFILES += $(emulated:.cc=.o) $(emulated:.cc=.d) $(kernels:.cu=.cc) $(dynamic_kernels:.o=.cc)
-include $(emulated:.cc=.d)
check_PROGRAMS += gpu/emulated/test_emulated.t
TESTS += gpu/emulated/test_emulated.t
gpu_emulated_test_emulated_t_SOURCES =
gpu_emulated_test_emulated_t_LDADD = gpu/emulated/test_emulated.o $(TAP_LDADD)
gpu_emulated_test_emulated_t_DEPENDENCIES = gpu/emulated/test_emulated.o tests/tap/libtap.a libhopwave.a
CLEANFILES += gpu/emulated/test_emulated.o gpu/emulated/test_emulated.cc gpu/emulated/test_emulated.cu.d
else
gpu/bellman_dynamic.o: override NVCCFLAGS += -rdc=true
gpu/dynamic_link.o: $(dynamic_kernels)
	$(AM_V_NVCC)$(NVCC) $(CUDA_ARCH_FLAGS) -dlink -o $@ $(dynamic_kernels) -lcudadevrt
libhopwave_a_LIBADD += gpu/dynamic_link.o
CLEANFILES += gpu/dynamic_link.o
endif
# What each includes, nvcc tells; objects from before it did are made anew.
$(kernels:.cu=.o) $(dynamic_kernels): gpu/kernels.told
gpu/kernels.told:
	$(AM_V_at)$(MKDIR_P) gpu && touch $@
CLEANFILES += gpu/kernels.told $(kernels:.cu=.cu.d) $(dynamic_kernels:.o=.cu.d)
-include $(kernels:.cu=.cu.d) $(dynamic_kernels:.o=.cu.d)
else
libhopwave_a_SOURCES += gpu/methods_stub.c
endif

AM_V_NVCC = $(am__v_NVCC_@AM_V@)
am__v_NVCC_ = $(am__v_NVCC_@AM_DEFAULT_V@)
am__v_NVCC_0 = @echo "  NVCC    " $@;
SUFFIXES = .cu .cc .o
if EMULATED
# Kernels as C++ for devices emulated on processors.
AM_V_EMULATE = $(am__v_EMULATE_@AM_V@)
am__v_EMULATE_ = $(am__v_EMULATE_@AM_DEFAULT_V@)
am__v_EMULATE_0 = @echo "  EMULATE " $@;
emulate = $(CXX) -std=c++17 -O1 -g $(SANITIZER_CFLAGS) -isystem $(top_srcdir)/gpu/emulated/include \
  -I$(top_srcdir)/gpu -I$(top_srcdir)/lib -MD -MP
.cu.o:
	$(AM_V_EMULATE)$(MKDIR_P) $(@D) && \
	  $(PYTHON3) $(top_srcdir)/gpu/emulated/launches.py $< >$*.cc && \
	  $(emulate) -I$(top_srcdir)/tests -w -fno-strict-aliasing -include cuda_runtime.h -MF $*.cu.d -c -o $@ $*.cc
.cc.o:
	$(AM_V_EMULATE)$(MKDIR_P) $(@D) && $(emulate) -Wall -Wextra -Wshadow -MF $*.d -c -o $@ $<
$(kernels:.cu=.o) $(dynamic_kernels): $(top_srcdir)/gpu/emulated/launches.py
else
.cu.o:
	$(AM_V_NVCC)$(MKDIR_P) $(@D) && $(NVCC) -std=c++17 -O3 --threads 0 $(NVCC_WARN) $(NVCCFLAGS) \
	  $(CUDA_ARCH_FLAGS) -I$(top_srcdir)/gpu -I$(top_srcdir)/lib -MD -MP -MF $*.cu.d -c -o $@ $<
endif
