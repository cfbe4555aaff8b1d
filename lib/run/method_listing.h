/*
 * Prints the method table: as a list, JSON, help, and the page doc/methods/options.md.
 */
#ifndef HOPWAVE_RUN_METHOD_LISTING_H
#define HOPWAVE_RUN_METHOD_LISTING_H

#include "lib/base/status.h"

#include <stdio.h>

struct hw_option;
struct hw_option_values;

/* Prints all methods; format: NULL (a table), "json" or "markdown". general: in json, the names of
 * options that no method owns, NULL-ended. Local. */
void hw_methods_print(const char *format, const char *const *general, FILE *out);

/* Prints the help of the methods of a name: where they run, citations, options and defaults.
 * Local. */
void hw_method_help_print(const char *name, FILE *out);

/* The methods, one a line, for the end of --help; static memory. Local. */
const char *hw_methods_summary(void);

/* The help of an option for a table of all options: "METHODS: help (default: D)". Local. */
void hw_method_option_doc(const struct hw_option *option, char *text, size_t size);

#endif
