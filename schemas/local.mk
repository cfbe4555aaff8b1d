# schemas: one per kind of file, and names that changed; installed for readers and compiled in
hw_schemas = schemas/graph.json schemas/partition.json schemas/tree.json schemas/check.json \
  schemas/renamed.json
nobase_dist_pkgdata_DATA += $(hw_schemas)

nodist_libhopwave_a_SOURCES = schemas/schemas.c
CLEANFILES += schemas/schemas.c

# Each schema as a string hw_schema_text_KIND, line by line.
schemas/schemas.c: $(hw_schemas)
	$(AM_V_GEN)$(MKDIR_P) schemas && for name in graph partition tree check renamed; do \
	  echo "extern const char hw_schema_text_$$name[];" && \
	  echo "const char hw_schema_text_$$name[] =" && \
	  sed -e 's/[\\"]/\\&/g' -e 's/^/"/' -e 's/$$/\\n"/' $(srcdir)/schemas/$$name.json && \
	  echo ";" || exit 1; \
	done >$@.new && mv $@.new $@
