# bench
EXTRA_DIST += bench/classes bench/peers-cpu bench/peers-gpu bench/peer_runs.py bench/peer_formats.py
EXTRA_DIST += bench/bench_graphs.py bench/graph500_roots.py bench/gpu-methods
EXTRA_DIST += bench/gpu-common.sh bench/side_by_side.c
EXTRA_DIST += bench/scaling-model bench/machines.json bench/measured.json
EXTRA_DIST += bench/import bench/predictions bench/paper-predictions bench/make-steps

# Predicted before they were measured: doc/predictions.md.
EXTRA_DIST += bench/predicted/delegates-peer-24.json bench/predicted/delegates-peer-25.json
EXTRA_DIST += bench/predicted/fused-mpi-24.json bench/predicted/fused-peer-24.json
EXTRA_DIST += bench/predicted/fused-peer-25.json bench/predicted/fused-peer-27.json
EXTRA_DIST += bench/predicted/scan2d-peer-24.json bench/predicted/scan2d-peer-25.json
EXTRA_DIST += bench/predicted/scan2d-mpi-26.json

# Atomic against scan enqueueing, on a GPU.
EXTRA_DIST += bench/gpu_enqueue.c bench/enqueue_kernel.cu bench/enqueue_kernel.h
if HAVE_CUDA
noinst_PROGRAMS += gpu-enqueue
gpu_enqueue_SOURCES = bench/gpu_enqueue.c
gpu_enqueue_LDADD = bench/enqueue_kernel.o $(LDADD)
gpu_enqueue_DEPENDENCIES = bench/enqueue_kernel.o libhopwave.a
CLEANFILES += bench/enqueue_kernel.o bench/enqueue_kernel.cu.d bench/enqueue_kernel.cc
-include bench/enqueue_kernel.cu.d
bundled_benches = gpu-enqueue

# Methods in turns.
noinst_PROGRAMS += hopwave-side-by-side
hopwave_side_by_side_SOURCES = bench/side_by_side.c
bundled_benches += hopwave-side-by-side
endif

# Exchanges in the ways that MPI offers: doc/communication.md.
noinst_PROGRAMS += exchange-variants
exchange_variants_SOURCES = bench/exchange_variants.c

# All that a machine without MPI and HDF5 needs to run the programs, in one archive.
EXTRA_DIST += bench/make-bundle
.PHONY: bundle
bundle: hopwave-bundle.tar.xz
CLEANFILES += hopwave-bundle.tar.xz
hopwave-bundle.tar.xz: $(bin_PROGRAMS) bench/make-bundle $(gpu_scripts) bench/gpu-methods \
	  bench/gpu-common.sh bench/classes bench/peers-gpu bench/peer_runs.py \
	  bench/peer_formats.py bench/bench_graphs.py bench/graph500_roots.py $(bundled_benches)
	$(AM_V_GEN)$(SHELL) $(srcdir)/bench/make-bundle . $(srcdir) $@ $(bin_PROGRAMS) $(bundled_benches)
