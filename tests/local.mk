# tests

# The workflow, with the Python of PYTHON3.
TESTS += tests/workflow/config.t
EXTRA_DIST += tests/workflow/config.t
EXTRA_DIST += tests/workflow/workflow.sh

TESTS += tests/pipeline/generate.t
EXTRA_DIST += tests/pipeline/generate.t tests/pipeline/generate_oracle.py

# The store: full disks; files read by plain h5py.
TESTS += tests/faults/disk.t
EXTRA_DIST += tests/faults/disk.t
TESTS += tests/pipeline/info.t
EXTRA_DIST += tests/pipeline/info.t
TESTS += tests/pipeline/h5py.t
EXTRA_DIST += tests/pipeline/h5py.t tests/pipeline/h5py_files.py

TESTS += tests/pipeline/traverse.t
EXTRA_DIST += tests/pipeline/traverse.t
