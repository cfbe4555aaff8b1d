# packaging
EXTRA_DIST += packaging/README.md packaging/apptainer/hopwave.def packaging/apptainer/hopwave-gpu.def
EXTRA_DIST += packaging/spack/spack_repo/hopwave/repo.yaml
EXTRA_DIST += packaging/spack/spack_repo/hopwave/packages/hopwave/package.py
EXTRA_DIST += packaging/easybuild/hopwave-0.1.0-foss-2025b.eb
EXTRA_DIST += packaging/easybuild/Random123-1.14.0-GCCcore-14.3.0.eb packaging/reframe/hopwave_checks.py
