#include "lib/layout/layout_options.h"

#include "lib/base/cli.h"

#include <stdio.h>
#include <string.h>

enum { KEY_LAYOUT = 0x2000, KEY_PARTS, KEY_GRID, KEY_THRESHOLD, KEY_ORDER };

const struct argp_option hw_layout_options[] = {
    {0, 0, 0, 0, "Layout of the partition:", 3},
    {"layout", KEY_LAYOUT, "1d|2d|degree-separated", 0,
     "Layout of vertices and edges: 1d, 2d or "
     "degree-separated",
     3},
    {"parts", KEY_PARTS, "N|NxG", 0, "Make N parts; degree-separated: N nodes of G parts each", 3},
    {"grid", KEY_GRID, "RxC", 0, "2d: a grid of R rows and C columns", 3},
    {"degree-threshold", KEY_THRESHOLD, "N|auto", 0,
     "degree-separated: vertices of degree above N are delegates (default: auto)", 3},
    {"order", KEY_ORDER, "degree|hash|none", 0,
     "Renumber vertices by falling degree, by a hash, or not: degree, hash or none (default: "
     "degree)",
     3},
    {0}};

static const char *const layout_words[] = {[HW_LAYOUT_1D] = "1d",
                                           [HW_LAYOUT_2D] = "2d",
                                           [HW_LAYOUT_DEGREE_SEPARATED] = "degree-separated",
                                           NULL};
static const char *const order_words[] = {
    [HW_ORDER_DEGREE] = "degree", [HW_ORDER_HASH] = "hash", [HW_ORDER_NONE] = "none", NULL};

const char *hw_layout_name(enum hw_layout layout)
{
    return layout_words[layout];
}

const char *hw_order_name(enum hw_order order)
{
    return order_words[order];
}

/* Takes "AxB", or "A" alone where one may be missing (then *b is 0), with A, B
 * and their product between 1 and HW_PARTS_MAX. */
static enum hw_status take_product(const char *name, const char *text, bool one_may_miss, int *a,
                                   int *b, struct hw_error *err)
{
    char first[32];
    int64_t left = 0, right = 0;
    const char *x = strchr(text, 'x');
    size_t length = x ? (size_t)(x - text) : strlen(text);

    if ((!x && !one_may_miss) || length >= sizeof first)
        return hw_fail(err, HW_USAGE, "%s: '%s' is not of the form %s", name, text,
                       one_may_miss ? "N or NxG" : "RxC");
    memcpy(first, text, length);
    first[length] = '\0';
    HW_TRY(hw_cli_count(name, first, 1, HW_PARTS_MAX, &left, err));
    if (x)
        HW_TRY(hw_cli_count(name, x + 1, 1, HW_PARTS_MAX, &right, err));
    if (x && left * right > HW_PARTS_MAX)
        return hw_fail(err, HW_USAGE, "%s: %s are more than %d parts", name, text, HW_PARTS_MAX);
    *a = (int)left;
    *b = (int)right;
    return HW_OK;
}

static enum hw_status take_threshold(const char *arg, struct hw_layout_request *request,
                                     struct hw_error *err)
{
    request->threshold_given = true;
    request->threshold = HW_THRESHOLD_AUTO;
    if (strcmp(arg, "auto") == 0)
        return HW_OK;
    return hw_cli_count("--degree-threshold", arg, 0, INT64_MAX - 1, &request->threshold, err);
}

enum hw_status hw_layout_take(int key, const char *arg, struct hw_layout_request *request,
                              struct hw_error *err)
{
    int word = 0;
    enum hw_status status = HW_OK;
    const char *name = NULL;

    switch (key) {
    case KEY_LAYOUT:
        name = "--layout";
        status = hw_cli_choice(name, arg, layout_words, &word, err);
        request->layout_given = true;
        request->layout = (enum hw_layout)word;
        break;
    case KEY_PARTS:
        name = "--parts";
        status = take_product(name, arg, true, &request->parts, &request->devices, err);
        if (status == HW_OK && request->devices > 0)
            request->parts *= request->devices;
        break;
    case KEY_GRID:
        name = "--grid";
        status = take_product(name, arg, false, &request->rows, &request->columns, err);
        break;
    case KEY_THRESHOLD:
        name = "--degree-threshold";
        status = take_threshold(arg, request, err);
        break;
    case KEY_ORDER:
        name = "--order";
        status = hw_cli_choice(name, arg, order_words, &word, err);
        request->order_given = true;
        request->order = (enum hw_order)word;
        break;
    default:
        return hw_fail(err, HW_INTERNAL, "option %#x is not one of the layout's", (unsigned)key);
    }
    if (!request->first)
        request->first = name;
    return status;
}

/* Refuses options that the layout has no use for. */
static enum hw_status check_fit(const struct hw_layout_request *request, struct hw_error *err)
{
    const char *layout;

    if (!request->layout_given)
        return hw_fail(err, HW_USAGE, "no layout; give --layout 1d, 2d or degree-separated");
    layout = layout_words[request->layout];
    if (request->rows > 0 && request->layout != HW_LAYOUT_2D)
        return hw_fail(err, HW_USAGE, "--grid: a %s layout has no grid; give --parts", layout);
    if (request->devices > 0 && request->layout != HW_LAYOUT_DEGREE_SEPARATED)
        return hw_fail(err, HW_USAGE, "--parts: a %s layout takes N, not NxG", layout);
    if (request->threshold_given && request->layout != HW_LAYOUT_DEGREE_SEPARATED)
        return hw_fail(err, HW_USAGE, "--degree-threshold: a %s layout has no delegates", layout);
    if (request->rows > 0 && request->parts > 0 &&
        request->parts != request->rows * request->columns)
        return hw_fail(err, HW_USAGE, "--parts: %d parts are not a grid of %dx%d", request->parts,
                       request->rows, request->columns);
    return HW_OK;
}

/* The largest divisor of parts that is at most its square root. */
static int nearest_square(int parts)
{
    int rows = 1;

    for (int r = 2; (int64_t)r * r <= parts; r++)
        if (parts % r == 0)
            rows = r;
    return rows;
}

enum hw_status hw_layout_resolve(const struct hw_layout_request *request, int default_parts,
                                 bool weights, struct hw_layout_spec *spec, struct hw_error *err)
{
    HW_TRY(check_fit(request, err));
    *spec = (struct hw_layout_spec){
        .layout = request->layout,
        .order = request->order_given ? request->order : HW_ORDER_DEGREE,
        .parts = request->rows > 0    ? request->rows * request->columns
                 : request->parts > 0 ? request->parts
                                      : default_parts,
        .weights = weights,
        .any_order = !request->order_given,
    };
    if (spec->parts < 1)
        return hw_fail(err, HW_USAGE, "how many parts; give %s",
                       spec->layout == HW_LAYOUT_2D ? "--grid RxC or --parts N" : "--parts N");
    if (spec->layout == HW_LAYOUT_DEGREE_SEPARATED) {
        spec->devices = request->devices > 0 ? request->devices : 1;
        spec->nodes = spec->parts / spec->devices;
        spec->threshold = request->threshold_given ? request->threshold : HW_THRESHOLD_AUTO;
    } else {
        spec->rows = request->rows > 0              ? request->rows
                     : spec->layout == HW_LAYOUT_2D ? nearest_square(spec->parts)
                                                    : 1;
        spec->columns = spec->parts / spec->rows;
    }
    return HW_OK;
}
