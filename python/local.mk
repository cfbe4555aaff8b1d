# python: the package hopwave, installed beside the workflow, whose commands it has
nobase_dist_pkgdata_DATA += \
  python/hopwave/__init__.py \
  python/hopwave/commands/__init__.py \
  python/hopwave/commands/__main__.py \
  python/hopwave/commands/archive.py \
  python/hopwave/commands/bag.py \
  python/hopwave/commands/base.py \
  python/hopwave/commands/compare.py \
  python/hopwave/commands/compare_report.py \
  python/hopwave/commands/confined.py \
  python/hopwave/commands/crate.py \
  python/hopwave/commands/fetch.py \
  python/hopwave/commands/guard.py \
  python/hopwave/commands/main.py \
  python/hopwave/commands/noise.py \
  python/hopwave/commands/pack.py \
  python/hopwave/commands/predict.py \
  python/hopwave/commands/records.py \
  python/hopwave/commands/repeat.py \
  python/hopwave/commands/run.py \
  python/hopwave/commands/shrink.py \
  python/hopwave/commands/tables.py \
  python/hopwave/console/__init__.py \
  python/hopwave/console/closing.py \
  python/hopwave/console/estimates.py \
  python/hopwave/console/events.py \
  python/hopwave/console/handler.py \
  python/hopwave/console/jobs.py \
  python/hopwave/console/pace.py \
  python/hopwave/console/start.py \
  python/hopwave/errors.py \
  python/hopwave/files/__init__.py \
  python/hopwave/files/base.py \
  python/hopwave/files/check.py \
  python/hopwave/files/convert.py \
  python/hopwave/files/digest.py \
  python/hopwave/files/graph.py \
  python/hopwave/files/kinds.py \
  python/hopwave/files/partition.py \
  python/hopwave/files/schema.py \
  python/hopwave/files/trees.py \
  python/hopwave/page/__init__.py \
  python/hopwave/page/context.py \
  python/hopwave/page/dictionary.py \
  python/hopwave/page/index.html.j2 \
  python/hopwave/page/index.py \
  python/hopwave/page/sort.js \
  python/hopwave/page/style.css \
  python/hopwave/predict/__init__.py \
  python/hopwave/predict/fit.py \
  python/hopwave/predict/goal.py \
  python/hopwave/predict/prediction.py \
  python/hopwave/predict/schedule.py \
  python/hopwave/predict/simulate.py \
  python/hopwave/py.typed \
  python/hopwave/renamed.py \
  python/hopwave/schemas/check.json \
  python/hopwave/schemas/graph.json \
  python/hopwave/schemas/graphs.schema.json \
  python/hopwave/schemas/partition.json \
  python/hopwave/schemas/renamed.json \
  python/hopwave/schemas/study.schema.json \
  python/hopwave/schemas/tree.json \
  python/hopwave/study/__init__.py \
  python/hopwave/study/claims.py \
  python/hopwave/study/columns.py \
  python/hopwave/study/figures.py \
  python/hopwave/study/hdf5.py \
  python/hopwave/study/headline.py \
  python/hopwave/study/configuration.py \
  python/hopwave/study/machine.py \
  python/hopwave/study/manifest.py \
  python/hopwave/study/methods.py \
  python/hopwave/study/models.py \
  python/hopwave/study/page.py \
  python/hopwave/study/papers.py \
  python/hopwave/study/papers_index.py \
  python/hopwave/study/style.py \
  python/hopwave/study/trees.py \
  python/hopwave/study/units.py \
  python/hopwave/study/whole.py \
  python/snakemake_logger_plugin_hopwave/__init__.py

EXTRA_DIST += python/README.md python/pyproject.toml
EXTRA_DIST += python/tests/test_predict.py python/tests/test_claims.py python/tests/test_papers_index.py
EXTRA_DIST += python/tests/conftest.py python/tests/test_files.py python/tests/test_wrong_files.py python/tests/test_members.py python/tests/test_confined.py
EXTRA_DIST += python/tests/test_console.py python/tests/test_converted.py python/tests/test_figures.py python/tests/test_page.py
