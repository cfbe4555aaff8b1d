# gpu: the CUDA engines behind hopwave_gpu.h, or the stub that offers none
#
# Host code is C; the .cu files hold kernels and their C launchers. nvcc compiles
# those for every architecture of --with-cuda-arch, and PTX of the last for later
# ones, side by side. Each folder lists its kernels, what they include, its host code,
# and the descriptors of its methods, which every build has.
kernels =
kernel_includes =
gpu_sources =
gpu_descriptors = gpu/engine/one_gpu_options.c gpu/engine/one_gpu_options.h

# the method table
gpu_sources += gpu/gpu_method_registry.c
EXTRA_DIST += gpu/gpu_method_registry_stub.c

# device: memory, PTX, warps, searches, sorts
kernels += gpu/device/device_sort.cu gpu/device/memory_kernels.cu
kernel_includes += gpu/device/cached_bitmap.cuh gpu/device/device_sort.h \
  gpu/device/grid_stride.cuh gpu/device/kernel_callable.h gpu/device/memory_kernels.h \
  gpu/device/grid_barrier.cuh gpu/device/launch.h gpu/device/packed_queue.h \
  gpu/device/prefix_search.cuh gpu/device/ptx.cuh gpu/device/summarized_bitmap.cuh \
  gpu/device/warp.cuh
gpu_sources += gpu/device/device.c gpu/device/device.h gpu/device/launch.c

# comm: transports, all-gathers, barriers
kernels += gpu/comm/allgather_kernel.cu
kernel_includes += gpu/comm/allgather.cuh gpu/comm/allgather_kernel.h gpu/comm/peer_barrier.cuh \
  gpu/comm/nvshmem/internode_puts.cuh gpu/comm/nvshmem/internode_puts.h
gpu_sources += gpu/comm/allgather.c gpu/comm/allgather.h \
  gpu/comm/host_staging.c gpu/comm/host_staging.h \
  gpu/comm/nccl_collectives.c gpu/comm/nccl_collectives.h \
  gpu/comm/nvshmem/internode_puts_host.c gpu/comm/nvshmem/internode_puts_host.h \
  gpu/comm/nvshmem/nvshmem_api.c gpu/comm/nvshmem/nvshmem_api.h \
  gpu/comm/nvshmem/nvshmem_kernels.c gpu/comm/nvshmem/nvshmem_kernels.h gpu/comm/nvshmem/nvshmem_memory.c \
  gpu/comm/nvshmem/nvshmem_memory.h gpu/comm/nvshmem/nvshmem_messages.c gpu/comm/nvshmem/nvshmem_messages.h \
  gpu/comm/outbox.c gpu/comm/outbox.h \
  gpu/comm/peer_memory.c gpu/comm/peer_memory.h \
  gpu/comm/preposted_recv.c gpu/comm/preposted_recv.h \
  gpu/comm/transport.c gpu/comm/transport.h gpu/comm/transport_probe.c

# graph: CSR and edge lists on the device, orders, layouts
kernels += gpu/graph/build/csr_builder_kernel.cu gpu/graph/build/vertex_order_kernel.cu
kernel_includes += gpu/graph/block_cyclic.h gpu/graph/device_graph.cuh gpu/graph/device_graph.h \
  gpu/graph/parent_ids.cuh gpu/graph/build/edge_tuples.cuh \
  gpu/graph/build/edge_tuples.h gpu/graph/build/vertex_order.h
gpu_sources += gpu/graph/build/csr_builder.c gpu/graph/build/csr_builder.h \
  gpu/graph/degree_order.c gpu/graph/degree_order.h \
  gpu/graph/degree_summary.c gpu/graph/degree_summary.h \
  gpu/graph/degree_ordered_lists.c gpu/graph/degree_ordered_lists.h \
  gpu/graph/device_edge_list.c gpu/graph/device_edge_list.h \
  gpu/graph/layout_build.c gpu/graph/layout_build.h gpu/graph/layout_vertices.c \
  gpu/graph/owned_vertices.c gpu/graph/owned_vertices.h \
  gpu/graph/row_range_builder.c gpu/graph/row_range_builder.h

# partition1d: block-cyclic partition over several GPUs
kernels += gpu/partition1d/partition_1d_build_kernel.cu gpu/partition1d/partition_1d_kernel.cu
kernel_includes += gpu/partition1d/partition_1d.h gpu/partition1d/partition_1d_build.h \
  gpu/partition1d/partition_1d_ids.cuh \
  gpu/partition1d/partition_1d_kernels.h
gpu_sources += gpu/partition1d/partition_1d_build.c gpu/partition1d/partition_1d_resident.h \
  gpu/partition1d/partition_1d_upload.c gpu/partition1d/partition_1d_upload.h

# validate: checks of trees on the device
kernels += gpu/validate/reached_count_kernel.cu gpu/validate/validation_kernel.cu
kernel_includes += gpu/validate/reached_count_kernel.h gpu/validate/validation_kernels.h
gpu_sources += gpu/validate/device_validate.c gpu/validate/device_validate.h \
  gpu/validate/reached_count.c gpu/validate/reached_count.h gpu/validate/result_view.h \
  gpu/validate/device_tree_cache.c gpu/validate/device_tree_cache.h \
  gpu/validate/tree_validation.c gpu/validate/tree_validation.h

# engine: the frame of all GPU methods
kernels += gpu/engine/result_kernels.cu
kernel_includes += gpu/engine/result_kernels.h gpu/engine/trace_append.cuh gpu/engine/trace_record.h
gpu_sources += gpu/engine/gpu_engine.c gpu/engine/gpu_engine.h \
  gpu/engine/one_gpu_bfs_results.c gpu/engine/one_gpu_graph.c gpu/engine/one_gpu_graph.h \
  gpu/engine/results_on_host.c gpu/engine/results_on_host.h \
  gpu/engine/step_trace.c gpu/engine/step_trace.h

# bfs: breadth-first search, a folder for each family of methods
kernel_includes += gpu/bfs/common/frontier_queue.cuh gpu/bfs/common/frontier_queue.h
gpu_sources += gpu/bfs/common/frontier_queue_host.c gpu/bfs/common/frontier_queue_host.h

kernels += gpu/bfs/direction_optimizing/one_gpu_bfs_kernel.cu \
  gpu/bfs/direction_optimizing/peer/peer_bfs_even_kernel.cu \
  gpu/bfs/direction_optimizing/peer/peer_bfs_kernel.cu \
  gpu/bfs/direction_optimizing/pendant_trees_kernel.cu \
  gpu/bfs/direction_optimizing/small_frontier/peer_small_frontier_bfs_kernel.cu \
  gpu/bfs/direction_optimizing/small_frontier/small_frontier_bfs_kernel.cu
kernel_includes += gpu/bfs/direction_optimizing/direction_policy.h \
  gpu/bfs/direction_optimizing/one_gpu_bfs.h \
  gpu/bfs/direction_optimizing/one_gpu_bfs_binned.cuh \
  gpu/bfs/direction_optimizing/one_gpu_bfs_bottom_up.cuh \
  gpu/bfs/direction_optimizing/one_gpu_bfs_device.cuh \
  gpu/bfs/direction_optimizing/one_gpu_bfs_level_bitmap.cuh \
  gpu/bfs/direction_optimizing/one_gpu_bfs_queue.cuh \
  gpu/bfs/direction_optimizing/one_gpu_bfs_single_cta_bottom_up.cuh \
  gpu/bfs/direction_optimizing/one_gpu_bfs_single_cta_top_down.cuh \
  gpu/bfs/direction_optimizing/small_frontier/peer_small_frontier_bfs.h \
  gpu/bfs/direction_optimizing/small_frontier/small_frontier_bfs.h \
  gpu/bfs/direction_optimizing/top_down.cuh \
  gpu/bfs/direction_optimizing/visited_tests.cuh \
  gpu/bfs/direction_optimizing/peer/peer_bfs.h \
  gpu/bfs/direction_optimizing/peer/peer_bfs_bottom_up.cuh \
  gpu/bfs/direction_optimizing/peer/internode_bfs.h \
  gpu/bfs/direction_optimizing/peer/internode_links.cuh \
  gpu/bfs/direction_optimizing/peer/peer_bfs_device.cuh \
  gpu/bfs/direction_optimizing/peer/peer_bfs_levels.cuh \
  gpu/bfs/direction_optimizing/peer/peer_bfs_single_cta.cuh \
  gpu/bfs/direction_optimizing/peer/peer_bfs_top_down.cuh
gpu_sources += gpu/bfs/direction_optimizing/direction_policy.c \
  gpu/bfs/direction_optimizing/peer/host_staged_bfs.c \
  gpu/bfs/direction_optimizing/peer/host_staged_bfs.h \
  gpu/bfs/direction_optimizing/peer/internode_bfs_host.c \
  gpu/bfs/direction_optimizing/peer/internode_bfs_host.h \
  gpu/bfs/direction_optimizing/one_gpu_bfs_host.c \
  gpu/bfs/direction_optimizing/small_frontier/peer_small_frontier_bfs_host.c \
  gpu/bfs/direction_optimizing/small_frontier/peer_small_frontier_bfs_host.h \
  gpu/bfs/direction_optimizing/small_frontier/small_frontier_bfs_host.c \
  gpu/bfs/direction_optimizing/small_frontier/small_frontier_bfs_host.h \
  gpu/bfs/direction_optimizing/peer/peer_bfs_host.c
gpu_descriptors += gpu/bfs/direction_optimizing/fused_descriptor.c

# Kernels that put by NVSHMEM are relocatable, and linked on their own with its device library.
nvshmem_kernels = gpu/bfs/direction_optimizing/peer/internode_bfs_kernel.cu \
  gpu/sssp/delta/peer/internode_delta_directed_kernel.cu gpu/sssp/delta/peer/internode_delta_kernel.cu

kernels += gpu/bfs/merge/merge_kernel.cu gpu/bfs/merge/merge_phases_kernel.cu
kernel_includes += gpu/bfs/merge/merge.h gpu/bfs/merge/merge_level.cuh
gpu_sources += gpu/bfs/merge/merge_host.c
gpu_descriptors += gpu/bfs/merge/merge_descriptor.c gpu/bfs/merge/merge_options.h

kernels += gpu/bfs/adaptive/adaptive_kernel.cu
kernel_includes += gpu/bfs/adaptive/adaptive.h gpu/bfs/adaptive/adaptive_bottom_up.cuh \
  gpu/bfs/adaptive/adaptive_device.cuh gpu/bfs/adaptive/adaptive_queue_generation.cuh \
  gpu/bfs/adaptive/adaptive_top_down.cuh
gpu_sources += gpu/bfs/adaptive/adaptive_host.c
gpu_descriptors += gpu/bfs/adaptive/adaptive_descriptor.c gpu/bfs/adaptive/adaptive_options.h

kernels += gpu/bfs/grid2d/scan2d_grid_kernel.cu \
  gpu/bfs/grid2d/scan2d_list_kernel.cu gpu/bfs/grid2d/one_gpu/scan2d_one_gpu_kernel.cu \
  gpu/bfs/grid2d/scan2d_results_kernel.cu
kernel_includes += gpu/bfs/grid2d/scan2d_bottom_up.cuh \
  gpu/bfs/grid2d/scan2d_exchange.cuh gpu/bfs/grid2d/scan2d_expansion.cuh \
  gpu/bfs/grid2d/scan2d_gather.cuh gpu/bfs/grid2d/scan2d_grid.h \
  gpu/bfs/grid2d/scan2d_grid_device.cuh gpu/bfs/grid2d/one_gpu/scan2d_one_gpu.h \
  gpu/bfs/grid2d/scan2d_grouping.cuh \
  gpu/bfs/grid2d/scan2d_single_cta.cuh gpu/bfs/grid2d/scan2d_top_down.cuh
gpu_sources += gpu/bfs/grid2d/scan2d_grid_host.c \
  gpu/bfs/grid2d/scan2d_grid_host.h gpu/bfs/grid2d/scan2d_grid_levels.c \
  gpu/bfs/grid2d/scan2d_grid_setup.c gpu/bfs/grid2d/scan2d_list_order.c \
  gpu/bfs/grid2d/one_gpu/scan2d_one_gpu_host.c gpu/bfs/grid2d/scan2d_parents.c
gpu_descriptors += gpu/bfs/grid2d/scan2d_descriptor.c gpu/bfs/grid2d/scan2d_options.h

kernels += gpu/bfs/delegates/delegates_kernel.cu \
  gpu/bfs/delegates/delegates_results_kernel.cu
kernel_includes += gpu/bfs/delegates/delegates.h \
  gpu/bfs/delegates/delegates_backward.cuh \
  gpu/bfs/delegates/delegates_barrier.cuh \
  gpu/bfs/delegates/delegates_decide.cuh \
  gpu/bfs/delegates/delegates_device.cuh \
  gpu/bfs/delegates/delegates_forward.cuh \
  gpu/bfs/delegates/delegates_previsit.cuh \
  gpu/bfs/delegates/delegates_queue.cuh \
  gpu/bfs/delegates/delegates_reduction.cuh \
  gpu/bfs/delegates/delegates_small_steps.cuh \
  gpu/bfs/delegates/delegates_trace.cuh gpu/bfs/delegates/delegates_visit.cuh
gpu_sources += gpu/bfs/delegates/host/delegates_device_loop.c \
  gpu/bfs/delegates/host/delegates_host.c gpu/bfs/delegates/host/delegates_host.h \
  gpu/bfs/delegates/host/delegates_host_masks.c \
  gpu/bfs/delegates/host/delegates_host_staged.c gpu/bfs/delegates/host/delegates_staged_run.h \
  gpu/bfs/delegates/host/delegates_parents.c gpu/bfs/delegates/host/delegates_upload.c
gpu_descriptors += gpu/bfs/delegates/delegates_descriptor.c \
  gpu/bfs/delegates/delegates_gpu_options.h

# sssp: shortest paths, a folder for each family of methods
kernels += gpu/sssp/common/sssp_parents_kernel.cu gpu/sssp/common/weighted_lists_kernel.cu
kernel_includes += gpu/sssp/common/bucket_queues.cuh gpu/sssp/common/delta_policy.h \
  gpu/sssp/common/distance_keys.cuh \
  gpu/sssp/common/small_frontier.h gpu/sssp/common/small_frontier_device.cuh \
  gpu/sssp/common/small_frontier_peers.cuh gpu/sssp/common/small_frontier_peers.h \
  gpu/sssp/common/small_frontier_phases.cuh gpu/sssp/common/small_frontier_records.cuh \
  gpu/sssp/common/small_frontier_rounds.cuh \
  gpu/sssp/common/sssp_engine.h gpu/sssp/common/warp_keys.cuh \
  gpu/sssp/common/weight_sorted_lists.cuh
gpu_sources += gpu/sssp/common/small_frontier_host.c gpu/sssp/common/small_frontier_host.h \
  gpu/sssp/common/sssp_engine.c gpu/sssp/common/sssp_engine_host.h

kernels += gpu/sssp/delta/one_gpu_delta_search_kernel.cu \
  gpu/sssp/delta/small_frontier_delta_kernel.cu gpu/sssp/delta/small_frontier_records_kernel.cu
gpu_sources += gpu/sssp/delta/delta_trace.c gpu/sssp/delta/delta_trace.h \
  gpu/sssp/delta/one_gpu_delta_host.c gpu/sssp/delta/one_gpu_delta_search.c \
  gpu/sssp/delta/one_gpu_delta_search.h
gpu_descriptors += gpu/sssp/delta/delta_descriptor.c gpu/sssp/delta/delta_kernel_option.h

kernels += gpu/sssp/delta/peer/peer_delta_directed_kernel.cu \
  gpu/sssp/delta/peer/peer_delta_finish_kernel.cu gpu/sssp/delta/peer/peer_delta_kernel.cu \
  gpu/sssp/delta/peer/peer_delta_levels_kernel.cu \
  gpu/sssp/delta/one_gpu_delta_packed_kernel.cu \
  gpu/sssp/delta/peer/peer_small_frontier_kernel.cu
kernel_includes += gpu/sssp/delta/peer/internode_delta.h gpu/sssp/delta/peer/internode_exchange.cuh \
  gpu/sssp/delta/peer/internode_gpus.cuh gpu/sssp/delta/peer/peer_small_frontier.h
kernel_includes += gpu/sssp/delta/delta_search.h gpu/sssp/delta/search/delta_barrier.cuh \
  gpu/sssp/delta/search/delta_block_shared.cuh gpu/sssp/delta/search/delta_broadcast.cuh \
  gpu/sssp/delta/search/delta_init.cuh gpu/sssp/delta/search/delta_iteration.cuh \
  gpu/sssp/delta/search/delta_keys.cuh gpu/sssp/delta/search/delta_launch.cuh \
  gpu/sssp/delta/search/delta_outbox.cuh \
  gpu/sssp/delta/search/delta_parents.cuh gpu/sssp/delta/search/delta_peers.cuh \
  gpu/sssp/delta/search/delta_phases.cuh gpu/sssp/delta/search/delta_pull.cuh \
  gpu/sssp/delta/search/delta_push.cuh gpu/sssp/delta/search/delta_push_queue.cuh \
  gpu/sssp/delta/search/delta_receive.cuh \
  gpu/sssp/delta/search/delta_step_queues.cuh gpu/sssp/delta/search/delta_steps.cuh
gpu_sources += gpu/sssp/delta/peer/internode_delta_host.c \
  gpu/sssp/delta/peer/internode_delta_host.h gpu/sssp/delta/peer/peer_delta_host.c gpu/sssp/delta/peer/peer_delta_host.h \
  gpu/sssp/delta/peer/peer_small_frontier_host.c gpu/sssp/delta/peer/peer_small_frontier_host.h \
  gpu/sssp/delta/peer/several_gpus_methods.c

kernels += gpu/sssp/bellman/bellman_ford_kernel.cu gpu/sssp/bellman/phase_loop/phase_loop_f32.cu \
  gpu/sssp/bellman/phase_loop/phase_loop_i32.cu gpu/sssp/bellman/phase_loop/phase_loop_i64.cu
kernel_includes += gpu/sssp/bellman/bellman_ford.h gpu/sssp/bellman/phase_loop/phase_loop.cuh \
  gpu/sssp/bellman/phase_loop/phase_loop.h \
  gpu/sssp/bellman/distance_update.cuh gpu/sssp/bellman/frontier_tiles.cuh \
  gpu/sssp/bellman/lane_state.cuh gpu/sssp/bellman/long_list_chunks.cuh \
  gpu/sssp/bellman/near_far_pile.cuh gpu/sssp/bellman/next_queue.cuh \
  gpu/sssp/bellman/phase_schedule.cuh gpu/sssp/bellman/relax_phase.cuh \
  gpu/sssp/bellman/virtual_warps.cuh
gpu_sources += gpu/sssp/bellman/bellman_ford_host.c gpu/sssp/bellman/bellman_ford_host.h \
  gpu/sssp/bellman/bellman_ford_negative_cycles.c \
  gpu/sssp/bellman/bellman_ford_search.c gpu/sssp/bellman/near_far.c
gpu_descriptors += gpu/sssp/bellman/relaxation_options.c gpu/sssp/bellman/relaxation_options.h
# Kernels that launch kernels are relocatable, and linked on their own.
dynamic_kernels = gpu/sssp/bellman/dynamic_parallelism.o

kernels += gpu/sssp/distributed/distributed_sssp_kernel.cu
kernel_includes += gpu/sssp/distributed/distributed_sssp_device.cuh gpu/sssp/distributed/frontier_lists.cuh \
  gpu/sssp/distributed/distributed_sssp.h gpu/sssp/distributed/pull_edges.cuh \
  gpu/sssp/distributed/push_edges.cuh gpu/sssp/distributed/update_outbox.cuh
gpu_sources += gpu/sssp/distributed/bucket_schedule.c \
  gpu/sssp/distributed/distributed_sssp_engine.c gpu/sssp/distributed/distributed_sssp_host.h \
  gpu/sssp/distributed/distributed_sssp_negative_cycles.c \
  gpu/sssp/distributed/distributed_sssp_parents.c \
  gpu/sssp/distributed/distributed_sssp_upload.c \
  gpu/sssp/distributed/relax_exchange_rounds.c
gpu_descriptors += gpu/sssp/distributed/distributed_sssp_descriptor.c

# emulated: devices on processors, for tests where there is no GPU
emulated = gpu/emulated/lanes.cc gpu/emulated/nvshmem.cc gpu/emulated/runtime.cc
EXTRA_DIST += $(emulated) gpu/emulated/include gpu/emulated/lanes.h gpu/emulated/launch.h \
  gpu/emulated/nvshmem.h gpu/emulated/ptx.cuh gpu/emulated/launches.py gpu/emulated/test_emulated.cu \
  gpu/device/test_summarized_bitmap.cu

EXTRA_DIST += $(kernels) $(nvshmem_kernels) $(kernel_includes) $(gpu_sources) $(dynamic_kernels:.o=.cu) \
  gpu/bfs/direction_optimizing/test_direction_policy.c \
  gpu/bfs/direction_optimizing/peer/test_peer_bfs_shape.c \
  gpu/comm/test_allgather.c gpu/comm/nvshmem/test_nvshmem_messages.c gpu/graph/test_layout_build.c gpu/validate/test_tree_validation.c
libhopwave_a_SOURCES += gpu/hopwave_gpu.h gpu/gpu_method_descriptors.c gpu/engine/gpu_method_list.h \
  $(gpu_descriptors)
if HAVE_CUDA
AM_CPPFLAGS += $(CUDA_CFLAGS)
LDADD += $(CUDA_LIBS)
libhopwave_a_SOURCES += $(gpu_sources)
libhopwave_a_LIBADD += $(kernels:.cu=.o) $(dynamic_kernels)
CLEANFILES += $(kernels:.cu=.o) $(dynamic_kernels)

gpu_tests = gpu/bfs/direction_optimizing/test_direction_policy.t \
  gpu/bfs/direction_optimizing/peer/test_peer_bfs_shape.t \
  gpu/comm/test_allgather.mt gpu/comm/nvshmem/test_nvshmem_messages.mt gpu/graph/test_layout_build.t \
  gpu/validate/test_tree_validation.mt
check_PROGRAMS += $(gpu_tests)
TESTS += $(gpu_tests)
gpu_bfs_direction_optimizing_test_direction_policy_t_SOURCES = \
  gpu/bfs/direction_optimizing/test_direction_policy.c
gpu_bfs_direction_optimizing_test_direction_policy_t_LDADD = $(TAP_LDADD)
gpu_bfs_direction_optimizing_peer_test_peer_bfs_shape_t_SOURCES = \
  gpu/bfs/direction_optimizing/peer/test_peer_bfs_shape.c
gpu_bfs_direction_optimizing_peer_test_peer_bfs_shape_t_LDADD = $(TAP_LDADD)
gpu_comm_test_allgather_mt_SOURCES = gpu/comm/test_allgather.c
gpu_comm_test_allgather_mt_LDADD = $(TAP_LDADD)
gpu_comm_nvshmem_test_nvshmem_messages_mt_SOURCES = gpu/comm/nvshmem/test_nvshmem_messages.c
gpu_comm_nvshmem_test_nvshmem_messages_mt_LDADD = $(TAP_LDADD)
gpu_graph_test_layout_build_t_SOURCES = gpu/graph/test_layout_build.c \
  tests/fixtures/validation_graphs.c tests/fixtures/validation_graphs.h
gpu_graph_test_layout_build_t_LDADD = $(TAP_LDADD)
gpu_validate_test_tree_validation_mt_SOURCES = gpu/validate/test_tree_validation.c \
  tests/fixtures/validation_graphs.c tests/fixtures/validation_graphs.h
gpu_validate_test_tree_validation_mt_LDADD = $(TAP_LDADD)

if EMULATED
libhopwave_a_LIBADD += $(emulated:.cc=.o) $(nvshmem_kernels:.cu=.o)
CLEANFILES += $(nvshmem_kernels:.cu=.cc)
CLEANFILES += $(emulated:.cc=.o) $(emulated:.cc=.d) $(kernels:.cu=.cc) $(dynamic_kernels:.o=.cc)
-include $(emulated:.cc=.d) gpu/emulated/test_emulated.cu.d gpu/device/test_summarized_bitmap.cu.d
check_PROGRAMS += gpu/emulated/test_emulated.t gpu/device/test_summarized_bitmap.t
TESTS += gpu/emulated/test_emulated.t gpu/device/test_summarized_bitmap.t
gpu_emulated_test_emulated_t_SOURCES =
gpu_emulated_test_emulated_t_LDADD = gpu/emulated/test_emulated.o $(TAP_LDADD)
gpu_emulated_test_emulated_t_DEPENDENCIES = gpu/emulated/test_emulated.o tests/tap/libtap.a libhopwave.a
CLEANFILES += gpu/emulated/test_emulated.o gpu/emulated/test_emulated.cc gpu/emulated/test_emulated.cu.d
gpu_device_test_summarized_bitmap_t_SOURCES =
gpu_device_test_summarized_bitmap_t_LDADD = gpu/device/test_summarized_bitmap.o $(TAP_LDADD)
gpu_device_test_summarized_bitmap_t_DEPENDENCIES = gpu/device/test_summarized_bitmap.o \
  tests/tap/libtap.a libhopwave.a
CLEANFILES += gpu/device/test_summarized_bitmap.o gpu/device/test_summarized_bitmap.cc \
  gpu/device/test_summarized_bitmap.cu.d
else
$(dynamic_kernels): override NVCCFLAGS += -rdc=true
gpu/dynamic_link.o: $(dynamic_kernels)
	$(AM_V_NVCC)$(NVCC) $(CUDA_ARCH_FLAGS) -dlink -o $@ $(dynamic_kernels) -lcudadevrt
libhopwave_a_LIBADD += gpu/dynamic_link.o
CLEANFILES += gpu/dynamic_link.o
if NVSHMEM_DEVICE
$(nvshmem_kernels:.cu=.o): override NVCCFLAGS += -rdc=true -isystem $(NVSHMEM_DIR)/include
gpu/nvshmem_image.fatbin: $(nvshmem_kernels:.cu=.o)
	$(AM_V_NVCC)$(NVCC) $(CUDA_ARCH_FLAGS) -dlink -fatbin -o $@ $(nvshmem_kernels:.cu=.o) \
	  -L$(NVSHMEM_DIR)/lib -lnvshmem_device
gpu/nvshmem_image.o: gpu/nvshmem_image.fatbin
	$(AM_V_GEN)printf '%s\n' '.section .rodata' '.global hw_nvshmem_image' '.balign 64' \
	  'hw_nvshmem_image: .incbin "$<"' '.section .note.GNU-stack,"",%progbits' | \
	  $(CC) -x assembler -c -o $@ -
libhopwave_a_LIBADD += gpu/nvshmem_image.o
CLEANFILES += gpu/nvshmem_image.fatbin gpu/nvshmem_image.o
endif
endif
# nvcc writes the dependencies of each kernel file next to its object.
CLEANFILES += $(kernels:.cu=.cu.d) $(dynamic_kernels:.o=.cu.d) $(nvshmem_kernels:.cu=.cu.d) \
  $(nvshmem_kernels:.cu=.o)
-include $(kernels:.cu=.cu.d) $(dynamic_kernels:.o=.cu.d) $(nvshmem_kernels:.cu=.cu.d)
else
libhopwave_a_SOURCES += gpu/gpu_method_registry_stub.c
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
  -I$(top_srcdir) -MD -MP
.cu.o:
	$(AM_V_EMULATE)$(MKDIR_P) $(@D) && \
	  $(PYTHON3) $(top_srcdir)/gpu/emulated/launches.py $< >$*.cc && \
	  $(emulate) -w -fno-strict-aliasing -include cuda_runtime.h -MF $*.cu.d -c -o $@ $*.cc
.cc.o:
	$(AM_V_EMULATE)$(MKDIR_P) $(@D) && $(emulate) -Wall -Wextra -Wshadow -MF $*.d -c -o $@ $<
$(kernels:.cu=.o) $(dynamic_kernels) $(nvshmem_kernels:.cu=.o): $(top_srcdir)/gpu/emulated/launches.py
else
.cu.o:
	$(AM_V_NVCC)$(MKDIR_P) $(@D) && $(NVCC) -std=c++17 -O3 --threads 0 $(NVCC_WARN) $(NVCCFLAGS) \
	  $(CUDA_ARCH_FLAGS) -include $(top_srcdir)/gpu/device/kernel_callable.h -I$(top_srcdir) \
	  -MD -MP -MF $*.cu.d -c -o $@ $<
endif
