# tests
#
# TESTS are those of `make check`, which together take below 5 minutes on 2 cores; LONG_TESTS those
# of `make check-long`.

# Each program, and a small study.
TESTS += tests/pipeline/search.t
LONG_TESTS += tests/pipeline/wrong-lines.t
EXTRA_DIST += tests/pipeline/wrong-lines.t tests/pipeline/wrong-lines.tsv
EXTRA_DIST += tests/pipeline/search.t
TESTS += tests/pipeline/programs.t
EXTRA_DIST += tests/pipeline/programs.t
TESTS += tests/workflow/small.t
LONG_TESTS += tests/workflow/console.t
EXTRA_DIST += tests/workflow/console.t
EXTRA_DIST += tests/workflow/small.t

# The workflow, with the Python of PYTHON3.
TESTS += tests/workflow/config.t
EXTRA_DIST += tests/workflow/config.t
EXTRA_DIST += tests/workflow/workflow.sh
LONG_TESTS += tests/workflow/models.t
EXTRA_DIST += tests/workflow/models.t
LONG_TESTS += tests/workflow/installed.t
EXTRA_DIST += tests/workflow/installed.t
TESTS += tests/workflow/man.t
LONG_TESTS += tests/workflow/site.t
EXTRA_DIST += tests/workflow/site.t
TESTS += tests/workflow/packages.t
EXTRA_DIST += tests/workflow/packages.t
LONG_TESTS += tests/workflow/journeys.t
EXTRA_DIST += tests/workflow/journeys.t tests/workflow/run-page.py
EXTRA_DIST += tests/workflow/man.t
LONG_TESTS += tests/workflow/fetch.t
EXTRA_DIST += tests/workflow/fetch.t tests/workflow/serve-files.py
LONG_TESTS += tests/workflow/study.t
EXTRA_DIST += tests/workflow/study.t
EXTRA_DIST += tests/workflow/break-tree.py
EXTRA_DIST += tests/workflow/in-report.py
LONG_TESTS += tests/workflow/report-browser.t
EXTRA_DIST += tests/workflow/report-browser.t
EXTRA_DIST += tests/workflow/browser.py tests/workflow/look-at-page.py tests/workflow/click-report.py tests/workflow/click-report.js
LONG_TESTS += tests/workflow/compare.t
EXTRA_DIST += tests/workflow/compare.t tests/workflow/retime.py
# Searches that take longer than they need, to be told from noise.
check_PROGRAMS += tests/pmpi/slowed-traverse
tests_pmpi_slowed_traverse_SOURCES = stages/traverse.c tests/pmpi/slow.c
tests_pmpi_slowed_traverse_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=hw_seconds
LONG_TESTS += tests/workflow/slowed.t
LONG_TESTS += tests/hosts/hosts.t tests/hosts/lost.t
EXTRA_DIST += tests/hosts/hosts.t tests/hosts/lost.t tests/hosts/hosts.sh tests/hosts/relay.py
EXTRA_DIST += tests/workflow/slowed.t
LONG_TESTS += tests/workflow/archive.t
LONG_TESTS += tests/workflow/hostile.t
EXTRA_DIST += tests/workflow/hostile.t
EXTRA_DIST += tests/workflow/archive.t tests/workflow/tamper.py tests/workflow/validate-crate.py
EXTRA_DIST += tests/workflow/requirements.txt
# On emulated devices alone.
LONG_TESTS += tests/workflow/papers.t
EXTRA_DIST += tests/workflow/papers.t
LONG_TESTS += tests/workflow/killed.t
EXTRA_DIST += tests/workflow/killed.t tests/workflow/kill-study.py
LONG_TESTS += tests/workflow/broken-disk.t
EXTRA_DIST += tests/workflow/broken-disk.t
LONG_TESTS += tests/workflow/slurm.t
EXTRA_DIST += tests/workflow/slurm.t tests/workflow/slurm.sh

TESTS += tests/pipeline/estimate.t
EXTRA_DIST += tests/pipeline/estimate.t
LONG_TESTS += tests/pipeline/generate.t
EXTRA_DIST += tests/pipeline/generate.t tests/pipeline/generate_oracle.py
LONG_TESTS += tests/pipeline/characteristics.t
EXTRA_DIST += tests/pipeline/characteristics.t tests/pipeline/characteristics.py
LONG_TESTS += tests/pipeline/models.t
EXTRA_DIST += tests/pipeline/models.t tests/pipeline/models_oracle.py

# The store: full disks; files read by plain h5py.
TESTS += tests/faults/disk.t
EXTRA_DIST += tests/faults/disk.t
TESTS += tests/faults/outputs.t
EXTRA_DIST += tests/faults/outputs.t
TESTS += tests/faults/start.t
EXTRA_DIST += tests/faults/start.t
TESTS += tests/pipeline/info.t
EXTRA_DIST += tests/pipeline/info.t
LONG_TESTS += tests/pipeline/converted.t
EXTRA_DIST += tests/pipeline/converted.t tests/pipeline/convert.py
TESTS += tests/pipeline/h5py.t
EXTRA_DIST += tests/pipeline/h5py.t tests/pipeline/h5py_files.py
LONG_TESTS += tests/pipeline/python.t
EXTRA_DIST += tests/pipeline/python.t
LONG_TESTS += tests/pipeline/old-files.t
EXTRA_DIST += tests/pipeline/old-files.t tests/pipeline/old_files.py
EXTRA_DIST += tests/pipeline/version-1/graph.h5 tests/pipeline/version-1/partition.h5
EXTRA_DIST += tests/pipeline/version-1/bfs.h5 tests/pipeline/version-1/sssp.h5
EXTRA_DIST += tests/pipeline/version-1/check.h5 tests/pipeline/version-1/README.md
EXTRA_DIST += tests/pipeline/version-1/SHA256SUMS

LONG_TESTS += tests/pipeline/as-published.t
EXTRA_DIST += tests/pipeline/as-published.t tests/pipeline/delegates_model.py
LONG_TESTS += tests/pipeline/cycles.t
EXTRA_DIST += tests/pipeline/cycles.t
LONG_TESTS += tests/pipeline/resume.t
EXTRA_DIST += tests/pipeline/resume.t
TESTS += tests/pipeline/sequential.t
EXTRA_DIST += tests/pipeline/sequential.t
LONG_TESTS += tests/pipeline/traverse.t
EXTRA_DIST += tests/pipeline/traverse.t
# Bytes that searches hand to MPI, counted between the program and the library.
check_PROGRAMS += tests/pmpi/counted-traverse
tests_pmpi_counted_traverse_SOURCES = stages/traverse.c tests/pmpi/count.c
LONG_TESTS += tests/pmpi/bytes.t
EXTRA_DIST += tests/pmpi/bytes.t tests/pmpi/traffic.py

# Memory that is too small, outputs that exist, ranks that die.
LONG_TESTS += tests/faults/resources.t
EXTRA_DIST += tests/faults/resources.t

LONG_TESTS += tests/pipeline/validate.t
EXTRA_DIST += tests/pipeline/validate.t tests/pipeline/edit-tree.py
# The layouts.
LONG_TESTS += tests/pipeline/partition.t
EXTRA_DIST += tests/pipeline/partition.t
TESTS += tests/pipeline/methods.t
EXTRA_DIST += tests/pipeline/methods.t
TESTS += tests/pipeline/labels.t
EXTRA_DIST += tests/pipeline/labels.t tests/pipeline/table.py
LONG_TESTS += tests/pipeline/import-files.t tests/pipeline/import-archives.t
EXTRA_DIST += tests/pipeline/import-files.t tests/pipeline/import-archives.t \
  tests/pipeline/archives.py

# GPUs: what can be tried without one, and the long test for machines that have one.
TESTS += tests/gpu/device.t
EXTRA_DIST += tests/gpu/device.t
LONG_TESTS += tests/gpu/bundle.t
EXTRA_DIST += tests/gpu/bundle.t
LONG_TESTS += tests/gpu/adaptive.t
EXTRA_DIST += tests/gpu/adaptive.t
LONG_TESTS += tests/gpu/grid-published.t tests/gpu/delegates-published.t
EXTRA_DIST += tests/gpu/grid-published.t tests/gpu/delegates-published.t
LONG_TESTS += tests/gpu/as-published.t
EXTRA_DIST += tests/gpu/as-published.t
# All of them, the long ones too, on a machine that has a GPU, and a table of them.
gpu_scripts = tests/gpu/run tests/gpu/long.sh tests/gpu/traverse.sh tests/gpu/paths.sh \
  tests/gpu/relaxing.sh tests/gpu/adaptive.sh tests/gpu/every.sh tests/gpu/sanitize.sh
EXTRA_DIST += $(gpu_scripts)
.PHONY: check-gpu
check-gpu: $(bin_PROGRAMS) $(gpu_tests)
	$(AM_V_at)$(AM_TESTS_ENVIRONMENT) $(SHELL) $(srcdir)/tests/gpu/run .
LONG_TESTS += tests/pipeline/formats.t
EXTRA_DIST += tests/pipeline/formats.t tests/pipeline/formats.py

# A thousand cases of inputs and events that are wrong; any number by hand (tests/campaign/README.md).
LONG_TESTS += tests/campaign/campaign.t
EXTRA_DIST += tests/campaign/campaign.t tests/campaign/README.md \
  tests/campaign/campaign.py tests/campaign/common.py tests/campaign/damage.py tests/campaign/faults.py \
  tests/campaign/imports.py tests/campaign/metadata.py tests/campaign/processes.py \
  tests/campaign/sealed.py tests/campaign/studies.py tests/campaign/trees.py

# Imports of texts.
LONG_TESTS += tests/pipeline/import.t
EXTRA_DIST += tests/pipeline/import.t
LONG_TESTS += tests/faults/import.t
EXTRA_DIST += tests/faults/import.t

# Shortest paths: one answer from all methods, layouts, part and thread counts.
LONG_TESTS += tests/pipeline/paths.t
EXTRA_DIST += tests/pipeline/paths.t
LONG_TESTS += tests/faults/watch.t
EXTRA_DIST += tests/faults/watch.t tests/faults/unseen
LONG_TESTS += tests/faults/srun.t
EXTRA_DIST += tests/faults/srun.t
LONG_TESTS += tests/gpu/parts.t
EXTRA_DIST += tests/gpu/parts.t
LONG_TESTS += tests/gpu/grid.t
EXTRA_DIST += tests/gpu/grid.t
LONG_TESTS += tests/gpu/delegates.t
EXTRA_DIST += tests/gpu/delegates.t
LONG_TESTS += tests/gpu/nodes.t
EXTRA_DIST += tests/gpu/nodes.t
LONG_TESTS += tests/gpu/beyond-32-bits.t tests/gpu/many-parts.t tests/gpu/mpi-buffers.t
EXTRA_DIST += tests/gpu/beyond-32-bits.t tests/gpu/many-parts.t tests/gpu/mpi-buffers.t
LONG_TESTS += tests/gpu/nvshmem.t tests/gpu/nvshmem-delta.t tests/gpu/nvshmem-graphs.t
EXTRA_DIST += tests/gpu/nvshmem.t tests/gpu/nvshmem-delta.t tests/gpu/nvshmem-graphs.t
LONG_TESTS += tests/gpu/routes.t
EXTRA_DIST += tests/gpu/routes.t
LONG_TESTS += tests/gpu/roads.t
EXTRA_DIST += tests/gpu/roads.t
LONG_TESTS += tests/gpu/lost.t
EXTRA_DIST += tests/gpu/lost.t
LONG_TESTS += tests/gpu/models.t
EXTRA_DIST += tests/gpu/models.t
LONG_TESTS += tests/gpu/odd.t
EXTRA_DIST += tests/gpu/odd.t
LONG_TESTS += tests/gpu/check.t
EXTRA_DIST += tests/gpu/check.t tests/gpu/same-rows.py

# Comparisons with other programs, which stand-ins play.
LONG_TESTS += tests/pipeline/peers.t
EXTRA_DIST += tests/pipeline/peers.t tests/pipeline/peers.py tests/pipeline/stand_in_peer.py

LONG_TESTS += tests/pipeline/classes.t
EXTRA_DIST += tests/pipeline/classes.t tests/pipeline/classes.py

# Exchanges between nodes.
LONG_TESTS += tests/pipeline/nodes.t
EXTRA_DIST += tests/pipeline/nodes.t tests/pipeline/nodes.py
LONG_TESTS += tests/pipeline/scaling.t
EXTRA_DIST += tests/pipeline/scaling.t tests/pipeline/scaling.py

# With make -jN tests run side by side, but for the one that compares times: it comes last, alone.
tests/workflow/slowed.log: | $(filter-out tests/workflow/slowed.log,$(TEST_LOGS))

# The structure of the source tree.
TESTS += tests/tree/tree.t
TESTS += tests/tree/words.t
EXTRA_DIST += tests/tree/words.t tests/tree/check-words.py doc/words.txt
EXTRA_DIST += tests/tree/tree.t tests/tree/check-tree.py

# What transports give between pairs of ranks.
TESTS += tests/pipeline/probe.t
EXTRA_DIST += tests/pipeline/probe.t
TESTS += tests/pipeline/predict.t
EXTRA_DIST += tests/pipeline/predict.t
LONG_TESTS += tests/gpu/probe.t
EXTRA_DIST += tests/gpu/probe.t

# Ids beyond 2^32.
TESTS += tests/pipeline/beyond-32-bits.t tests/pipeline/compact-ids.t
EXTRA_DIST += tests/pipeline/beyond-32-bits.t tests/pipeline/compact-ids.t
