# doc
dist_doc_DATA += doc/communication.md
dist_doc_DATA += doc/file-formats.md
dist_doc_DATA += doc/graphs.md
dist_doc_DATA += doc/imports.md
dist_doc_DATA += doc/tutorial/files.md
dist_doc_DATA += doc/tutorial/archive.md
dist_doc_DATA += doc/tutorial/student.md doc/tutorial/engineer.md doc/tutorial/researcher.md
dist_doc_DATA += doc/python.md
dist_doc_DATA += doc/validation.md
dist_doc_DATA += doc/layouts.md
dist_doc_DATA += doc/adding-a-method.md
dist_doc_DATA += doc/scaling.md
dist_doc_DATA += doc/predictions.md
dist_doc_DATA += doc/many-nodes.md
dist_doc_DATA += doc/threat-model.md
dist_doc_DATA += doc/peers.md doc/programs.md doc/building.md
dist_doc_DATA += doc/transports.md
benchmarksdir = $(docdir)/benchmarks
dist_benchmarks_DATA = doc/benchmarks/bfs-gpu.md doc/benchmarks/four-gpus.md \
  doc/benchmarks/one-and-two-gpus.md doc/benchmarks/shortest-paths-gpu.md
trialsdir = $(docdir)/trials
dist_trials_DATA = doc/trials/bfs.md doc/trials/shortest-paths.md
EXTRA_DIST += doc/images/draw-peers.py doc/images/peers.svg doc/benchmarks/peers-h200.csv
methodsdir = $(docdir)/methods
dist_methods_DATA = \
  doc/methods/README.md \
  doc/methods/adaptive.md \
  doc/methods/bellman-ford-gpu.md \
  doc/methods/clock-and-teps.md \
  doc/methods/delegates.md \
  doc/methods/delegates-gpus.md \
  doc/methods/delta-bellman-ford-degree-separated.md \
  doc/methods/delta-bellman-ford-grids.md \
  doc/methods/delta-bellman-ford-several-gpus.md \
  doc/methods/delta-one-gpu.md \
  doc/methods/fused.md \
  doc/methods/fused-several-gpus.md \
  doc/methods/grid.md \
  doc/methods/merge.md \
  doc/methods/options.md \
  doc/methods/scan2d.md \
  doc/methods/scan2d-grid.md \
  doc/methods/shortest-paths.md

# The site of the documentation, in site/html: needs Doxygen and doc/site/requirements.txt. Warnings are
# errors; html-links checks links to other sites, too.
EXTRA_DIST += doc/index.md doc/choosing-a-method.md doc/where-things-are.md doc/site/Doxyfile doc/site/conf.py \
  doc/site/doxygen-filter.py doc/site/make-site.py doc/site/requirements.txt
.PHONY: html-links
html-local: $(bin_PROGRAMS) hopwave-study
	$(PYTHON3) $(srcdir)/doc/site/make-site.py $(srcdir) . site
html-links: $(bin_PROGRAMS) hopwave-study
	$(PYTHON3) $(srcdir)/doc/site/make-site.py --links $(srcdir) . site

# Writes the pages that are made of what the programs know, in the source.
.PHONY: update-doc
update-doc: hopwave-traverse
	./hopwave-traverse --list-methods=markdown >$(srcdir)/doc/methods/options.md
	PYTHONPATH=$(srcdir)/python $(PYTHON3) -m hopwave.study.papers_index $(srcdir)

# What became of the papers' figures and tables: update-doc makes the pages of the other files.
papersdir = $(docdir)/papers
dist_papers_DATA = \
  doc/papers/README.md \
  doc/papers/bellman-ford.md \
  doc/papers/degree-separated.md \
  doc/papers/kepler-2d.md \
  doc/papers/load-balanced.md \
  doc/papers/papers.yaml \
  doc/papers/xbfs.md
EXTRA_DIST += doc/papers/results doc/papers/bellman-ford doc/papers/degree-separated doc/papers/kepler-2d \
  doc/papers/load-balanced doc/papers/xbfs
