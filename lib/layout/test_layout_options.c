/* Units of the layout options: what is taken, what is refused, what it means. */
#include "lib/layout/layout_options.h"

#include "lib/base/cli.h"
#include "tests/tap/tap.h"

#include <stdio.h>
#include <string.h>

static enum hw_status take(int key, const char *arg, void *options, struct hw_error *err)
{
    return hw_layout_take(key, arg, options, err);
}

/* Parses a command line of space-separated words and resolves it. */
static enum hw_status parse(const char *line, int default_parts, struct hw_layout_spec *spec,
                            struct hw_error *err)
{
    const struct hw_cli_program program = {
        .name = "program", .doc = "", .take = take, .group = hw_layout_options};
    struct hw_layout_request request = {0};
    struct hw_cli cli;
    char text[256], *argv[16] = {(char[]){"program"}};
    int argc = 1;

    snprintf(text, sizeof text, "%s", line);
    for (char *word = strtok(text, " "); word; word = strtok(NULL, " "))
        argv[argc++] = word;
    enum hw_status status = hw_cli_parse(&program, argc, argv, false, &request, &cli, err);
    return status == HW_OK ? hw_layout_resolve(&request, default_parts, false, spec, err) : status;
}

static void test_meaning(struct tap *tap)
{
    const struct {
        const char *line;
        int default_parts;
        struct hw_layout_spec spec;
    } cases[] = {
        {"--layout 1d --parts 6",
         0,
         {HW_LAYOUT_1D, HW_ORDER_DEGREE, 6, 1, 6, 0, 0, 0, false, true}},
        {"--layout 1d", 3, {HW_LAYOUT_1D, HW_ORDER_DEGREE, 3, 1, 3, 0, 0, 0, false, true}},
        {"--layout 2d --grid 3x2 --order none",
         4,
         {HW_LAYOUT_2D, HW_ORDER_NONE, 6, 3, 2, 0, 0, 0, false, false}},
        {"--layout=2d --parts=12",
         0,
         {HW_LAYOUT_2D, HW_ORDER_DEGREE, 12, 3, 4, 0, 0, 0, false, true}},
        {"--layout 2d", 5, {HW_LAYOUT_2D, HW_ORDER_DEGREE, 5, 1, 5, 0, 0, 0, false, true}},
        {"--layout degree-separated --parts 2x4 --order hash",
         0,
         {HW_LAYOUT_DEGREE_SEPARATED, HW_ORDER_HASH, 8, 0, 0, 2, 4, HW_THRESHOLD_AUTO, false,
          false}},
        {"--layout degree-separated --parts 4 --degree-threshold 0",
         0,
         {HW_LAYOUT_DEGREE_SEPARATED, HW_ORDER_DEGREE, 4, 0, 0, 4, 1, 0, false, true}},
    };
    struct hw_error err;
    struct hw_layout_spec got;

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct hw_layout_spec *want = &cases[i].spec;
        bool right = parse(cases[i].line, cases[i].default_parts, &got, &err) == HW_OK &&
                     got.layout == want->layout && got.order == want->order &&
                     got.any_order == want->any_order && got.parts == want->parts &&
                     got.rows == want->rows && got.columns == want->columns &&
                     got.nodes == want->nodes && got.devices == want->devices &&
                     got.threshold == want->threshold;
        tap_ok(tap, right, "means what it should: %s", cases[i].line);
    }
}

static void test_refused(struct tap *tap)
{
    const char *const lines[] = {
        "",
        "--parts 4",
        "--layout 3d --parts 4",
        "--layout 1d",
        "--layout 1d --parts 0",
        "--layout 1d --parts x4",
        "--layout 1d --parts 4x",
        "--layout 1d --parts 2x2",
        "--layout 1d --parts 1048577",
        "--layout 1d --parts 4 --grid 2x2",
        "--layout 1d --parts 4 --degree-threshold 9",
        "--layout 2d --grid 4",
        "--layout 2d --grid 2x-2",
        "--layout 2d --grid 65536x65536",
        "--layout 2d --grid 2x2 --parts 5",
        "--layout degree-separated --grid 2x2",
        "--layout degree-separated --parts 4 --degree-threshold few",
        "--layout 1d --parts 4 --order random",
    };
    struct hw_error err;
    struct hw_layout_spec got;

    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        enum hw_status status = parse(lines[i], 0, &got, &err);
        tap_ok(tap, status == HW_USAGE && err.text[0], "refused: '%s'", lines[i]);
    }
}

int main(void)
{
    struct tap tap = {0};

    tap_plan(&tap, 25);
    test_meaning(&tap);
    test_refused(&tap);
    return tap_done(&tap);
}
