/*
 * The options of the layout, as hopwave-partition and
 * hopwave-traverse (of a graph) take them.
 *
 * A program puts hw_layout_options into the group of its struct hw_cli_program,
 * hands options it does not know to hw_layout_take(), and turns the result into
 * a struct hw_layout_spec with hw_layout_resolve().
 */
#ifndef HOPWAVE_LAYOUT_LAYOUT_OPTIONS_H
#define HOPWAVE_LAYOUT_LAYOUT_OPTIONS_H

#include "lib/base/status.h"
#include "lib/base/types.h"
#include "lib/layout/part.h"

#include <argp.h>

/* --layout, --parts, --grid, --degree-threshold, --order; ends in {0}. Its keys
 * lie between 0x2000 and 0x20ff. */
extern const struct argp_option hw_layout_options[];

/* Parts that a partition may have at most. */
#define HW_PARTS_MAX (1 << 20)

/* The options as given; what was not given is 0 or NULL. Begin with {0}. */
struct hw_layout_request {
    const char *first;     /* the first of these options that was given, such as "--grid" */
    bool layout_given;     /* --layout */
    enum hw_layout layout; /* its value */
    int parts;             /* --parts N, or N x G in all */
    int devices;           /* --parts NxG: G; 0 for plain N */
    int rows, columns;     /* --grid RxC */
    bool threshold_given;  /* --degree-threshold */
    hw_count threshold;    /* its value; HW_THRESHOLD_AUTO for auto */
    bool order_given;      /* --order */
    enum hw_order order;   /* its value */
};

/*
 * Takes one option into request. Local.
 * Returns HW_OK, HW_USAGE with an error message, or HW_INTERNAL if key is none of
 * hw_layout_options.
 */
enum hw_status hw_layout_take(int key, const char *arg, struct hw_layout_request *request,
                              struct hw_error *err);

/*
 * Turns the request into a spec: --order degree and --degree-threshold auto
 * where not given. Where neither --parts nor --grid is, default_parts parts are
 * made (0: the option is asked for). A 2d layout without --grid gets the grid
 * nearest to a square, rows <= columns. weights: keep them, if the graph has
 * any. Local.
 *
 * Returns HW_USAGE where options are missing or do not fit each other.
 */
enum hw_status hw_layout_resolve(const struct hw_layout_request *request, int default_parts,
                                 bool weights, struct hw_layout_spec *spec, struct hw_error *err);

/* The words that --layout and --order take, and that files record: "1d", "2d",
 * "degree-separated"; "degree", "hash", "none". Local. */
const char *hw_layout_name(enum hw_layout layout);
const char *hw_order_name(enum hw_order order);

#endif
