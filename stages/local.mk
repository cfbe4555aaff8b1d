# stages: one main per program, and their man pages
#
# A program needs two lines here, and doc/man/hopwave-NAME.h2m with examples; its man page
# hopwave-NAME.1 is made from that and its --help=all, and installed with it.
bin_PROGRAMS += hopwave
hopwave_SOURCES = stages/hopwave.c
bin_PROGRAMS += hopwave-info
hopwave_info_SOURCES = stages/info.c
bin_PROGRAMS += hopwave-export
hopwave_export_SOURCES = stages/export.c
bin_PROGRAMS += hopwave-generate
hopwave_generate_SOURCES = stages/generate.c
bin_PROGRAMS += hopwave-import
hopwave_import_SOURCES = stages/import.c
bin_PROGRAMS += hopwave-partition
hopwave_partition_SOURCES = stages/partition.c
bin_PROGRAMS += hopwave-search
hopwave_search_SOURCES = stages/search.c
bin_PROGRAMS += hopwave-traverse
hopwave_traverse_SOURCES = stages/traverse.c
bin_PROGRAMS += hopwave-validate
hopwave_validate_SOURCES = stages/validate.c

# Completion of shells: one file, under the name of each program where bash looks for it.
bashcompletiondir = $(datadir)/bash-completion/completions
zshcompletiondir = $(datadir)/zsh/site-functions
dist_zshcompletion_DATA = stages/completion/_hopwave
EXTRA_DIST += stages/completion/hopwave.bash
completed = hopwave-study $(bin_PROGRAMS)
install-data-local:
	$(MKDIR_P) '$(DESTDIR)$(bashcompletiondir)'
	for name in $(completed); do \
	  $(INSTALL_DATA) '$(srcdir)/stages/completion/hopwave.bash' \
	    "$(DESTDIR)$(bashcompletiondir)/$$name" || exit 1; \
	done
uninstall-local:
	for name in $(completed); do rm -f "$(DESTDIR)$(bashcompletiondir)/$$name"; done

man_parts = $(bin_PROGRAMS:%=doc/man/%.h2m) doc/man/common.h2m
EXTRA_DIST += $(man_parts)
if HAVE_HELP2MAN
man1_MANS = $(bin_PROGRAMS:=.1)
CLEANFILES += $(man1_MANS)

# Every program links with libhopwave.a, so all pages are remade together. A
# page must not stop the build where a program cannot be run (cross compiling,
# login nodes without MPI): it then refers to --help. The page's title is the
# first sentence of the program's text. Leaks of the MPI library are no matter
# here.
$(man1_MANS): $(bin_PROGRAMS) $(man_parts)
	$(AM_V_GEN)name=`basename $@ .1`; rm -f $@ $@.new; \
	ASAN_OPTIONS=detect_leaks=0; export ASAN_OPTIONS; \
	title=`./$$name --help 2>/dev/null | \
	  $(AWK) 'NR > 1 { if (/^ *-|^$$/) exit; printf "%s%s", space, $$0; space = " " }' | \
	  sed 's/\. .*//; s/\.$$//'`; \
	$(HELP2MAN) --no-info --no-discard-stderr --help-option=--help=all --name="$${title:-a program of Hopwave}" \
	  --include=$(srcdir)/doc/man/$$name.h2m --include=$(srcdir)/doc/man/common.h2m \
	  --source='Hopwave $(PACKAGE_VERSION)' --output=$@.new ./$$name 2>/dev/null || \
	printf '.TH %s 1\n.SH NAME\n%s \\- a program of Hopwave\n.SH DESCRIPTION\nSee %s --help.\n' \
	  "$$name" "$$name" "$$name" >$@.new; \
	mv $@.new $@
endif
