# workflow: the study behind hopwave-study, installed as it lies here
bin_SCRIPTS = hopwave-study
CLEANFILES += hopwave-study
EXTRA_DIST += workflow/hopwave-study

# The interpreter is the one that configure found, by its full path if it has one.
hopwave-study: $(srcdir)/workflow/hopwave-study Makefile
	$(AM_V_GEN)rm -f $@ $@.new; \
	python=`command -v $(PYTHON3) || echo /usr/bin/env python3`; \
	sed -e "1s,.*,#!$$python," -e 's,@VERSION[@],$(PACKAGE_VERSION),' -e 's,@bindir[@],$(bindir),' \
	  -e 's,@pkgdatadir[@],$(pkgdatadir),' -e 's,@MPIEXEC[@],$(MPIEXEC),' \
	  -e 's,@abs_top_srcdir[@],$(abs_top_srcdir),' \
	  $(srcdir)/workflow/hopwave-study >$@.new; \
	chmod +x $@.new; mv $@.new $@

nobase_dist_pkgdata_DATA += \
  config/README.md \
  config/graphs.yaml \
  config/networks/h200-node-host.xml \
  config/networks/h200-node-mpi.xml \
  config/networks/h200-node.xml \
  config/networks/ndr-fat-tree.xml \
  config/networks/slingshot-dragonfly.xml \
  config/papers/README.md \
  config/papers/bellman-ford.yaml \
  config/papers/degree-separated-cpu.yaml \
  config/papers/degree-separated.yaml \
  config/papers/kepler-2d-cpu.yaml \
  config/papers/kepler-2d.yaml \
  config/papers/load-balanced.yaml \
  config/papers/small.yaml \
  config/papers/xbfs.yaml \
  config/scaling.yaml \
  config/study.yaml \
  schemas/graphs.schema.json \
  schemas/study.schema.json \
  workflow/Snakefile \
  workflow/envs/programs.yaml \
  workflow/envs/python.yaml \
  workflow/envs/requirements.txt \
  workflow/profiles/README.md \
  workflow/profiles/allocation/config.yaml \
  workflow/profiles/allocation/study.sbatch \
  workflow/profiles/default/config.yaml \
  workflow/profiles/gpu/config.yaml \
  workflow/profiles/laptop/config.yaml \
  workflow/profiles/slurm/config.yaml \
  workflow/report/claims.rst \
  workflow/report/degrees.rst \
  workflow/report/figure.rst \
  workflow/report/results.rst \
  workflow/report/scaling.rst \
  workflow/report/steps.rst \
  workflow/report/teps.rst \
  workflow/report/time.rst \
  workflow/report/volume.rst \
  workflow/report/workflow.rst \
  workflow/rules/common.smk \
  workflow/rules/generate.smk \
  workflow/rules/partition.smk \
  workflow/rules/report.smk \
  workflow/rules/traverse.smk \
  workflow/rules/validate.smk \
  workflow/scripts/claims.py \
  workflow/scripts/collect.py \
  workflow/scripts/degrees.py \
  workflow/scripts/enqueue.py \
  workflow/scripts/gate.py \
  workflow/scripts/page.py \
  workflow/scripts/plot_degrees.py \
  workflow/scripts/plot_figure.py \
  workflow/scripts/plot_scaling.py \
  workflow/scripts/plot_steps.py \
  workflow/scripts/plot_teps.py \
  workflow/scripts/plot_time.py \
  workflow/scripts/plot_volume.py \
  workflow/scripts/table.py \
  workflow/scripts/uphold.py

# For the catalogue of Snakemake workflows, and for the tests.
EXTRA_DIST += .ci/run .snakemake-workflow-catalog.yml .test/config/study.yaml .test/data/ring.txt
dist_doc_DATA += doc/tutorial/study.md

# Written by hand: its --help is in two parts.
dist_man1_MANS = doc/hopwave-study.1
