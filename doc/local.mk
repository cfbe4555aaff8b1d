# doc
dist_doc_DATA += doc/methods.md
dist_doc_DATA += doc/file-formats.md
dist_doc_DATA += doc/graphs.md
dist_doc_DATA += doc/imports.md
dist_doc_DATA += doc/tutorial/files.md
dist_doc_DATA += doc/tutorial/archive.md
dist_doc_DATA += doc/validation.md
dist_doc_DATA += doc/layouts.md
dist_doc_DATA += doc/scaling.md
EXTRA_DIST += doc/images/teps.svg
