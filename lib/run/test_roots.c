/* Roots: parsing of lists; samples are the same in every layout and at every rank count. */
#include "lib/base/memory.h"
#include "lib/engine/core/result.h"
#include "lib/run/component_size.h"
#include "lib/run/roots.h"
#include "tests/fixtures/serial_method.h"
#include "tests/tap/tap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void test_parse(struct tap *tap)
{
    static const char *const bad[] = {"",     ",",    "1,",  ",1",   "1,,2",
                                      "1 2",  "1,2x", "1e3", "0x10", "99999999999999999999",
                                      "1, 2", "+",    "1;2"};
    struct hw_roots roots = {0};
    struct hw_error err;

    tap_ok(tap,
           hw_roots_parse("5,0,7,7,-3", &roots, &err) == HW_OK && roots.count == 5 &&
               roots.id[0] == 5 && roots.id[2] == 7 && roots.id[3] == 7 && roots.id[4] == -3,
           "a list is taken as it is");
    tap_ok(tap, hw_roots_check(&roots, 8, &err) == HW_BAD_INPUT && strstr(err.text, "root -3 "),
           "a root below 0 is out of range");
    roots.count = 4;
    tap_ok(tap, hw_roots_check(&roots, 8, &err) == HW_OK, "the last vertex is in range");
    tap_ok(tap, hw_roots_check(&roots, 7, &err) == HW_BAD_INPUT && strstr(err.text, "0 to 6"),
           "the one after it is not");
    hw_roots_free(&roots);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        tap_ok(tap, hw_roots_parse(bad[i], &roots, &err) == HW_USAGE && !roots.id,
               "refused as a list: '%s'", bad[i]);
    tap_ok(tap,
           hw_roots_is_list("3") && hw_roots_is_list("-3") && hw_roots_is_list("") &&
               !hw_roots_is_list("roots.txt") && !hw_roots_is_list("./3"),
           "lists and files are distinguished");
}

/* Writes bytes into a file on rank 0 and reads it back as roots on all. */
static enum hw_status read_bytes(const struct tap *tap, const struct hw_context *ctx,
                                 const char *bytes, size_t count, struct hw_roots *roots,
                                 struct hw_error *err)
{
    char folder[TAP_FOLDER], path[TAP_FOLDER + 16];

    if (!tap_folder(tap, folder))
        abort();
    snprintf(path, sizeof path, "%s/roots", folder);
    if (ctx->rank == 0) {
        FILE *file = fopen(path, "w");
        if (!file || fwrite(bytes, 1, count, file) != count || fclose(file) != 0)
            abort();
    }
    enum hw_status status = hw_roots_read(ctx, path, roots, err);
    tap_drop_folder(tap, folder);
    return status;
}

/* The same for a text. */
static enum hw_status read_text(const struct tap *tap, const struct hw_context *ctx,
                                const char *text, struct hw_roots *roots, struct hw_error *err)
{
    return read_bytes(tap, ctx, text, strlen(text), roots, err);
}

/* Files that no editor writes. */
static void test_odd_files(struct tap *tap, const struct hw_context *ctx)
{
    static const char zero[] = "1\n2\0 3\n4\n";
    char longest[5000];
    struct hw_roots roots = {0};
    struct hw_error err = {{0}};

    tap_ok(tap,
           read_bytes(tap, ctx, zero, sizeof zero - 1, &roots, &err) == HW_BAD_INPUT &&
               strstr(err.text, ": line 2: holds a zero byte"),
           "a zero byte ends no line");
    tap_ok(tap,
           read_text(tap, ctx, "1\r2\n", &roots, &err) == HW_BAD_INPUT &&
               strstr(err.text, ": line 1: "),
           "nor does a carriage return");
    memset(longest, '#', sizeof longest - 1);
    longest[sizeof longest - 1] = '\0';
    tap_ok(tap,
           read_text(tap, ctx, longest, &roots, &err) == HW_BAD_INPUT &&
               strstr(err.text, ": line 1: longer than 4095 bytes"),
           "a line without end");
    longest[4095] = '\0';
    tap_ok(tap,
           read_text(tap, ctx, longest, &roots, &err) == HW_BAD_INPUT &&
               strstr(err.text, "holds no root"),
           "the longest that may be");
    tap_ok(tap,
           hw_roots_read(ctx, "/dev/zero", &roots, &err) == HW_BAD_INPUT &&
               strstr(err.text, "/dev/zero: line 1: holds a zero byte"),
           "a device");
}

static void test_read(struct tap *tap, const struct hw_context *ctx)
{
    static const char *const bad[] = {"1\n2 3\n", "one\n", "1\n99999999999999999999\n", "1,2\n"};
    struct hw_roots roots = {0};
    struct hw_error err = {{0}};

    tap_ok(tap,
           read_text(tap, ctx, "# roots\n4\n\n  1 \r\n9", &roots, &err) == HW_OK &&
               roots.count == 3 && roots.id[0] == 4 && roots.id[1] == 1 && roots.id[2] == 9,
           "a file of roots");
    hw_roots_free(&roots);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        tap_ok(tap,
               read_text(tap, ctx, bad[i], &roots, &err) == HW_BAD_INPUT &&
                   strstr(err.text, ": line "),
               "refused with its line: file %d", (int)i);
    tap_ok(tap,
           read_text(tap, ctx, "# none\n\n", &roots, &err) == HW_BAD_INPUT &&
               strstr(err.text, "no root"),
           "a file without roots");
    tap_ok(tap,
           hw_roots_read(ctx, "/nonexistent/roots", &roots, &err) == HW_BAD_INPUT &&
               strstr(err.text, "No such file"),
           "a file that is not there");
}

/* Whether roots are distinct candidates. */
static bool legal(const struct hw_serial_method *serial, const struct hw_roots *roots)
{
    bool *seen = calloc((size_t)serial->desc.vertices, sizeof *seen);
    bool right = seen != NULL;

    for (hw_count i = 0; i < roots->count && right; i++) {
        right = serial->candidate[roots->id[i]] && !seen[roots->id[i]];
        seen[roots->id[i]] = true;
    }
    free(seen);
    return right;
}

static hw_count candidates(const struct hw_serial_method *serial)
{
    hw_count count = 0;

    for (hw_gid v = 0; v < serial->desc.vertices; v++)
        count += serial->candidate[v];
    return count;
}

/* The sample of the serial, undirected and directed, from seed 5. */
static const hw_gid golden[2][6] = {{26, 67, 7, 75, 24, 40}, {26, 67, 7, 75, 61, 53}};

static void test_sample(struct tap *tap, struct hw_serial_method *serial, const char *name)
{
    struct hw_sampler sampler;
    struct hw_roots few = {0}, all = {0};
    struct hw_error err = {{0}};

    bool opened = hw_sampler_open(serial->ctx, &serial->part, 5, &sampler, &err) == HW_OK;
    tap_ok(tap, opened && sampler.total == candidates(serial), "%s: candidates", name);
    tap_ok(tap,
           hw_sampler_draw(&sampler, 6, &few, &err) == HW_OK && few.count == 6 &&
               memcmp(few.id, golden[serial->desc.directed], sizeof golden[0]) == 0,
           "%s: the sample of the seed", name);
    tap_ok(tap,
           hw_sampler_draw(&sampler, 5, &few, &err) == HW_OK && few.count == 5 &&
               hw_sampler_draw(&sampler, 1000, &all, &err) == HW_OK &&
               all.count == sampler.total - 11 &&
               hw_sampler_draw(&sampler, 1, &all, &err) == HW_OK && all.count == 0,
           "%s: drawing ends where the candidates do", name);
    hw_sampler_close(&sampler);
    opened = hw_sampler_open(serial->ctx, &serial->part, 5, &sampler, &err) == HW_OK;
    tap_ok(tap,
           opened && hw_sampler_draw(&sampler, 1000, &all, &err) == HW_OK &&
               all.count == sampler.total && legal(serial, &all) &&
               memcmp(all.id, golden[serial->desc.directed], sizeof golden[0]) == 0 &&
               memcmp(all.id + 6, few.id, 5 * sizeof *few.id) == 0,
           "%s: all at once are the same, distinct and not isolated", name);
    hw_sampler_close(&sampler);
    hw_roots_free(&few);
    hw_roots_free(&all);
}

static void test_locate(struct tap *tap, struct hw_serial_method *serial)
{
    hw_gid ids[] = {0, 96, 41};
    struct hw_roots roots = {3, ids};
    int owner[3];
    hw_lid position[3];
    struct hw_error err = {{0}};
    bool right =
        hw_roots_locate(serial->ctx, &serial->part, &roots, owner, position, &err) == HW_OK;

    for (int i = 0; i < 3 && right; i++)
        if (owner[i] == serial->ctx->rank)
            right = serial->part.own.graph_id[position[i]] == ids[i];
    tap_ok(tap, right, "roots are found where they are");
    ids[1] = 97;
    tap_ok(tap,
           hw_roots_locate(serial->ctx, &serial->part, &roots, owner, position, &err) ==
               HW_BAD_INPUT,
           "a root that nobody owns is refused");
}

/* Few roots of many vertices: the first of all, however many are drawn at a time. */
static void test_many(struct tap *tap, const struct hw_context *ctx)
{
    enum { OWN = 30000 };
    struct hw_part part = {.own.count = OWN};
    struct hw_sampler sampler = {.ctx = ctx, .part = &part, .seed = 5, .last_id = HW_GID_NONE};
    struct hw_roots all = {0}, few = {0}, more = {0};
    struct hw_error err;
    bool right =
        hw_alloc(&part.own.graph_id, OWN, sizeof *part.own.graph_id, "ids", &err) == HW_OK &&
        hw_alloc(&sampler.candidate, OWN, sizeof *sampler.candidate, "bits", &err) == HW_OK;

    for (hw_lid v = 0; v < (right ? OWN : 0); v++) {
        part.own.graph_id[v] = (hw_gid)v * ctx->size + ctx->rank;
        sampler.candidate[v] = v % 3 > 0;
    }
    sampler.total = (hw_count)ctx->size * OWN / 3 * 2;
    struct hw_sampler again = sampler;
    right = right && hw_sampler_draw(&again, sampler.total, &all, &err) == HW_OK &&
            hw_sampler_draw(&sampler, 3, &few, &err) == HW_OK &&
            hw_sampler_draw(&sampler, 40, &more, &err) == HW_OK;
    tap_ok(tap,
           right && few.count == 3 && more.count == 40 &&
               memcmp(few.id, all.id, 3 * sizeof *all.id) == 0 &&
               memcmp(more.id, all.id + 3, 40 * sizeof *all.id) == 0,
           "few roots of many vertices are the first of all");
    hw_roots_free(&all);
    hw_roots_free(&few);
    hw_roots_free(&more);
    hw_sampler_close(&sampler);
    free(part.own.graph_id);
}

/* Draws roots of large components and compares with levels of the serial. */
static bool large_right(struct hw_serial_method *serial, hw_count count, hw_count least,
                        hw_count expected)
{
    struct hw_result result = {0};
    const struct hw_searcher searcher = {&serial->method, serial, &result};
    struct hw_sampler sampler;
    struct hw_roots roots = {0};
    struct hw_error err = {{0}};
    int32_t level[128];
    bool right = hw_result_open(&serial->part, HW_BFS, &result, &err) == HW_OK &&
                 hw_sampler_open(serial->ctx, &serial->part, 5, &sampler, &err) == HW_OK &&
                 hw_roots_large(&sampler, &searcher, count, least, &roots, &err) == HW_OK &&
                 roots.count == expected && legal(serial, &roots);

    for (hw_count i = 0; i < roots.count && right; i++) {
        hw_count reached = 0;
        hw_serial_method_levels(serial, roots.id[i], level);
        for (hw_gid v = 0; v < serial->desc.vertices; v++)
            reached += level[v] >= 0;
        right = reached >= least;
    }
    hw_roots_free(&roots);
    hw_sampler_close(&sampler);
    hw_result_close(&result);
    return right;
}

static void test_large(struct tap *tap, const struct hw_context *ctx)
{
    struct hw_serial_method serial;

    hw_serial_method_open(ctx, HW_LAYOUT_2D, HW_ORDER_NONE, false, &serial);
    tap_ok(tap, large_right(&serial, 8, 6, 8), "roots of the large component only");
    tap_ok(tap, large_right(&serial, 1000, 6, 30), "all of them, where more are asked for");
    tap_ok(tap, large_right(&serial, 1000, 4, 35), "two components are large enough");
    serial.searches = 0;
    tap_ok(tap, large_right(&serial, 5, 31, 0), "none is");
    tap_ok(tap, serial.searches < 22, "not all of the 22 components are searched to know it");
    hw_serial_method_close(&serial);
    hw_serial_method_open(ctx, HW_LAYOUT_1D, HW_ORDER_NONE, true, &serial);
    tap_ok(tap, large_right(&serial, 1000, 4, 32), "directed: what a root reaches counts");
    hw_serial_method_close(&serial);
}

static void tests(struct tap *tap, struct hw_context *ctx)
{
    tap_plan(tap, 73);
    static const struct {
        enum hw_layout layout;
        enum hw_order order;
        const char *name;
    } layouts[] = {{HW_LAYOUT_1D, HW_ORDER_NONE, "1d"},
                   {HW_LAYOUT_2D, HW_ORDER_DEGREE, "2d by degree"},
                   {HW_LAYOUT_DEGREE_SEPARATED, HW_ORDER_NONE, "degree-separated"}};
    struct hw_serial_method serial;

    test_parse(tap);
    test_read(tap, ctx);
    test_odd_files(tap, ctx);
    for (size_t i = 0; i < sizeof layouts / sizeof *layouts; i++)
        for (int directed = 0; directed < 2; directed++) {
            hw_serial_method_open(ctx, layouts[i].layout, layouts[i].order, directed, &serial);
            test_sample(tap, &serial, layouts[i].name);
            test_locate(tap, &serial);
            hw_serial_method_close(&serial);
        }
    test_many(tap, ctx);
    test_large(tap, ctx);
}

int main(int argc, char **argv)
{
    return tap_ranks(argc, argv, "test_roots", tests);
}
