# tests

# The workflow, with the Python of PYTHON3.
TESTS += tests/workflow/config.t
EXTRA_DIST += tests/workflow/config.t
EXTRA_DIST += tests/workflow/workflow.sh

TESTS += tests/pipeline/generate.t
EXTRA_DIST += tests/pipeline/generate.t
