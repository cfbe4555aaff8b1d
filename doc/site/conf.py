"""The site of the documentation, for Sphinx; doc/site/make-site.py gathers its pages."""

import os

project = "Hopwave"
author = "the authors of Hopwave"
release = version = os.environ.get("HOPWAVE_VERSION", "")
extensions = ["myst_parser", "breathe"]
source_suffix = {".md": "markdown"}
root_doc = "index"
exclude_patterns = ["site"]
html_theme = "furo"
html_title = f"Hopwave {version}"
html_show_sourcelink = False
myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 3
breathe_projects = {"hopwave": "doxygen/xml"}
breathe_default_project = "hopwave"
breathe_domain_by_extension = {"h": "c"}
breathe_show_include = False
primary_domain = "c"
highlight_language = "none"
# Tags and functions of C have names of their own: struct hw_import and hw_import(). Pages that no
# list names are found by links and by the search.
suppress_warnings = ["duplicate_declaration.c", "toc.not_included"]
