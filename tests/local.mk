# tests

# The workflow, with the Python of PYTHON3.
TESTS += tests/workflow/config.t
EXTRA_DIST += tests/workflow/config.t
EXTRA_DIST += tests/workflow/workflow.sh
TESTS += tests/workflow/man.t
EXTRA_DIST += tests/workflow/man.t
TESTS += tests/workflow/study.t
EXTRA_DIST += tests/workflow/study.t
EXTRA_DIST += tests/workflow/break-tree.py
EXTRA_DIST += tests/workflow/in-report.py
TESTS += tests/workflow/report-browser.t
EXTRA_DIST += tests/workflow/report-browser.t
EXTRA_DIST += tests/workflow/click-report.py tests/workflow/click-report.js
TESTS += tests/workflow/compare.t
EXTRA_DIST += tests/workflow/compare.t tests/workflow/retime.py
# Searches that take longer than they need, to be told from noise.
check_PROGRAMS += tests/pmpi/slowed-traverse
tests_pmpi_slowed_traverse_SOURCES = stages/traverse.c tests/pmpi/slow.c
tests_pmpi_slowed_traverse_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=hw_seconds
TESTS += tests/workflow/slowed.t
EXTRA_DIST += tests/workflow/slowed.t
TESTS += tests/workflow/archive.t
EXTRA_DIST += tests/workflow/archive.t tests/workflow/tamper.py tests/workflow/validate-crate.py
EXTRA_DIST += tests/workflow/requirements.txt
TESTS += tests/workflow/killed.t
EXTRA_DIST += tests/workflow/killed.t tests/workflow/kill-study.py
TESTS += tests/workflow/slurm.t
EXTRA_DIST += tests/workflow/slurm.t tests/workflow/slurm.sh

TESTS += tests/pipeline/estimate.t
EXTRA_DIST += tests/pipeline/estimate.t
TESTS += tests/pipeline/generate.t
EXTRA_DIST += tests/pipeline/generate.t tests/pipeline/generate_oracle.py

# The store: full disks; files read by plain h5py.
TESTS += tests/faults/disk.t
EXTRA_DIST += tests/faults/disk.t
TESTS += tests/pipeline/info.t
EXTRA_DIST += tests/pipeline/info.t
TESTS += tests/pipeline/h5py.t
EXTRA_DIST += tests/pipeline/h5py.t tests/pipeline/h5py_files.py

TESTS += tests/pipeline/cycles.t
EXTRA_DIST += tests/pipeline/cycles.t
TESTS += tests/pipeline/resume.t
EXTRA_DIST += tests/pipeline/resume.t
TESTS += tests/pipeline/sequential.t
EXTRA_DIST += tests/pipeline/sequential.t
TESTS += tests/pipeline/traverse.t
EXTRA_DIST += tests/pipeline/traverse.t
# Bytes that searches hand to MPI, counted between the program and the library.
check_PROGRAMS += tests/pmpi/counted-traverse
tests_pmpi_counted_traverse_SOURCES = stages/traverse.c tests/pmpi/count.c
TESTS += tests/pmpi/bytes.t
EXTRA_DIST += tests/pmpi/bytes.t tests/pmpi/books.py

# Memory that is too small, outputs that exist, ranks that die.
TESTS += tests/faults/resources.t
EXTRA_DIST += tests/faults/resources.t

TESTS += tests/pipeline/validate.t
EXTRA_DIST += tests/pipeline/validate.t tests/pipeline/edit-tree.py
# The layouts.
TESTS += tests/pipeline/partition.t
EXTRA_DIST += tests/pipeline/partition.t
TESTS += tests/pipeline/labels.t
EXTRA_DIST += tests/pipeline/labels.t tests/pipeline/table.py
TESTS += tests/pipeline/import-files.t
EXTRA_DIST += tests/pipeline/import-files.t

# GPUs: what can be tried without one, and the long test for machines that have one.
TESTS += tests/gpu/device.t
EXTRA_DIST += tests/gpu/device.t
TESTS += tests/gpu/bundle.t
EXTRA_DIST += tests/gpu/bundle.t
TESTS += tests/gpu/adaptive.t
EXTRA_DIST += tests/gpu/adaptive.t
# All of them, the long ones too, on a machine that has a GPU, and a table of them.
gpu_scripts = tests/gpu/run tests/gpu/long.sh tests/gpu/traverse.sh tests/gpu/paths.sh \
  tests/gpu/relaxing.sh tests/gpu/adaptive.sh tests/gpu/every.sh tests/gpu/sanitize.sh
EXTRA_DIST += $(gpu_scripts)
.PHONY: check-gpu
check-gpu: $(bin_PROGRAMS) $(gpu_tests)
	$(AM_V_at)$(AM_TESTS_ENVIRONMENT) $(SHELL) $(srcdir)/tests/gpu/run .
TESTS += tests/pipeline/formats.t
EXTRA_DIST += tests/pipeline/formats.t tests/pipeline/formats.py

# Imports of texts.
TESTS += tests/pipeline/import.t
EXTRA_DIST += tests/pipeline/import.t
TESTS += tests/faults/import.t
EXTRA_DIST += tests/faults/import.t

# Shortest paths: one answer from all methods, layouts, part and thread counts.
TESTS += tests/pipeline/paths.t
EXTRA_DIST += tests/pipeline/paths.t
TESTS += tests/faults/watch.t
EXTRA_DIST += tests/faults/watch.t
TESTS += tests/gpu/parts.t
EXTRA_DIST += tests/gpu/parts.t
TESTS += tests/gpu/grid.t
EXTRA_DIST += tests/gpu/grid.t
TESTS += tests/gpu/delegates.t
EXTRA_DIST += tests/gpu/delegates.t
TESTS += tests/gpu/nodes.t
EXTRA_DIST += tests/gpu/nodes.t
TESTS += tests/gpu/routes.t
EXTRA_DIST += tests/gpu/routes.t
TESTS += tests/gpu/lost.t
EXTRA_DIST += tests/gpu/lost.t
TESTS += tests/gpu/odd.t
EXTRA_DIST += tests/gpu/odd.t
TESTS += tests/gpu/check.t
EXTRA_DIST += tests/gpu/check.t tests/gpu/same-rows.py

# Exchanges between nodes.
TESTS += tests/pipeline/nodes.t
EXTRA_DIST += tests/pipeline/nodes.t tests/pipeline/nodes.py
TESTS += tests/pipeline/scaling.t
EXTRA_DIST += tests/pipeline/scaling.t tests/pipeline/scaling.py

# With make -jN tests run side by side, but for the one that judges times: it comes last, alone.
tests/workflow/slowed.log: | $(filter-out tests/workflow/slowed.log,$(TEST_LOGS))
