# packaging
EXTRA_DIST += packaging/README.md packaging/apptainer/hopwave.def packaging/spack/package.py
