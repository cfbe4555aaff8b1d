/*
 * Partition files: what was written is read again, the same from any number of
 * ranks; and files whose digests are right but whose contents no engine could
 * index with are refused.
 */
#include "lib/layout/part.h"
#include "tests/fixtures/part_oracle.h"
#include "tests/fixtures/random_graphs.h"
#include "tests/tap/tap.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Where the files of this test lie. */
struct desk {
    const struct hw_context *ctx;
    char folder[TAP_FOLDER], path[300];
};

static bool open_desk(const struct tap *tap, struct desk *desk, const struct hw_context *ctx)
{
    desk->ctx = ctx;
    bool made = tap_folder(tap, desk->folder);
    snprintf(desk->path, sizeof desk->path, "%s/p.h5", desk->folder);
    return made;
}

/* Writes parts, of which this rank has some, under the desk's path. */
static enum hw_status write_parts(const struct desk *desk, const struct hw_part *part, int first,
                                  int count, char *digest, struct hw_error *err)
{
    struct hw_store *store = NULL;
    enum hw_status status =
        hw_store_create(desk->ctx, desk->path, HW_KIND_PARTITION, true, &store, err);

    if (status == HW_OK)
        status = hw_parts_write(desk->ctx, store, part, first, count, err);
    if (status == HW_OK)
        status = hw_store_digest(store, digest, err);
    if (status == HW_OK)
        return hw_store_commit(store, err);
    hw_store_close(store);
    return status;
}

static enum hw_status read_part(const struct desk *desk, int index, bool weights,
                                struct hw_part *part, struct hw_error *err)
{
    struct hw_store *store = NULL;
    enum hw_status status = hw_store_open(desk->ctx, desk->path, HW_KIND_PARTITION, &store, err);

    if (status == HW_OK)
        status = hw_part_read(desk->ctx, store, index, weights, part, err);
    hw_store_close(store);
    return status;
}

/* ---- round trips ---- */

/* Writes a random graph's parts from all ranks and reads some of them again. */
static void test_round(struct tap *tap, const struct desk *desk, struct hw_layout_spec spec,
                       hw_gid vertices, bool directed, enum hw_weights weights, const char *digest)
{
    struct hw_error err = {{0}};
    struct random_graph fixture = make_random_graph(vertices, 700, directed, weights);
    struct hw_part *part = calloc(6, sizeof *part), again = {0}, expected;
    int ranks = desk->ctx->size, rank = desk->ctx->rank;
    int first = spec.parts * rank / ranks, count = spec.parts * (rank + 1) / ranks - first;
    char found[HW_DIGEST_SIZE] = "";

    bool right = hw_parts_build_list(desk->ctx, &fixture.desc, &fixture.edges, &spec, first, count,
                                     part, &err) == HW_OK &&
                 write_parts(desk, part, first, count, found, &err) == HW_OK;
    tap_ok(tap, right && strcmp(found, digest) == 0,
           "layout %d, %d parts, directed %d, weights %d: digest %s %s", (int)spec.layout,
           spec.parts, directed, (int)weights, found, err.text);
    int index = spec.parts - 1 - rank % spec.parts;
    bool with = index % 2 == 0 || ranks > 1;
    right = read_part(desk, index, with, &again, &err) == HW_OK &&
            strcmp(again.digest, digest) == 0 && again.spec.order == spec.order;
    spec.threshold = again.spec.threshold;
    spec.weights = with;
    hw_oracle_part(&fixture.desc, &fixture.edges, &spec, index, &expected);
    tap_ok(tap, right && same_part(&again, &expected), "and what was written is read: %s",
           err.text);
    for (int p = 0; p < count; p++)
        hw_part_free(&part[p]);
    hw_part_free(&again);
    hw_part_free(&expected);
    free(part);
    free_random_graph(&fixture);
}

static void test_rounds(struct tap *tap, const struct desk *desk)
{
    const struct hw_layout_spec line = {.layout = HW_LAYOUT_1D,
                                        .order = HW_ORDER_DEGREE,
                                        .parts = 3,
                                        .rows = 1,
                                        .columns = 3,
                                        .weights = true};
    const struct hw_layout_spec grid = {.layout = HW_LAYOUT_2D,
                                        .order = HW_ORDER_HASH,
                                        .parts = 6,
                                        .rows = 3,
                                        .columns = 2,
                                        .weights = true};
    const struct hw_layout_spec separate = {.layout = HW_LAYOUT_DEGREE_SEPARATED,
                                            .order = HW_ORDER_NONE,
                                            .parts = 4,
                                            .nodes = 2,
                                            .devices = 2,
                                            .threshold = 9,
                                            .weights = true};

    const struct hw_layout_spec one = {
        .layout = HW_LAYOUT_1D, .order = HW_ORDER_NONE, .parts = 1, .rows = 1, .columns = 1};

    /* The digests are those of the first version: files stay what they are. */
    test_round(tap, desk, line, 101, false, HW_WEIGHTS_I32,
               "xxh3-128:232b1da249550d0a0c67ae5e97c8c2f2");
    test_round(tap, desk, grid, 101, true, HW_WEIGHTS_NONE,
               "xxh3-128:7cf15126cfc068867f6f236cb2b6c9a9");
    test_round(tap, desk, separate, 101, false, HW_WEIGHTS_NONE,
               "xxh3-128:0ccc1262aab0d44083feeaa562a0c665");
    /* More vertices than are converted at a time. */
    test_round(tap, desk, one, 300000, false, HW_WEIGHTS_NONE,
               "xxh3-128:f7a5e6978951b359a13001f75b2e8fbb");
    test_round(tap, desk, separate, 101, true, HW_WEIGHTS_F32,
               "xxh3-128:e90779c8bfab734f312a7be2da074f83");
}

/* ---- wrong contents ---- */

/* A way to spoil a part. Parts have at least four of everything. */
struct spoil {
    const char *what;
    void (*apply)(struct hw_part *part);
    const char *message; /* a piece of it */
};

static void twice(struct hw_part *part)
{
    part->own.graph_id[0] = part->own.graph_id[1];
}

static void beyond(struct hw_part *part)
{
    part->own.graph_id[0] = part->vertices;
}

static void no_tuples(struct hw_part *part)
{
    part->own.tuples[0] = -1;
}

static void more_tuples(struct hw_part *part)
{
    part->own.tuples[0]++;
}

/* The matrix that most spoils spoil. */
static struct hw_csr *any_matrix(struct hw_part *part)
{
    return part->spec.layout == HW_LAYOUT_DEGREE_SEPARATED ? &part->separate.dn : &part->grid.out;
}

/* A list of at least two entries in it. */
static hw_count a_list(const struct hw_csr *matrix)
{
    hw_lid r = 0;

    while (matrix->offset[r + 1] - matrix->offset[r] < 2)
        r++;
    return matrix->offset[r];
}

static void loop_of_nobody(struct hw_part *part)
{
    part->own.loop[0] = part->own.count;
}

static void loop_twice(struct hw_part *part)
{
    part->own.loop[1] = part->own.loop[0];
}

static void loop_positive(struct hw_part *part)
{
    part->own.loop_weight[0].f32 = 1;
}

static void offset_start(struct hw_part *part)
{
    any_matrix(part)->offset[0] = 1;
}

static void offset_falls(struct hw_part *part)
{
    any_matrix(part)->offset[2] = any_matrix(part)->offset[3] + 1;
}

static void offset_negative(struct hw_part *part)
{
    any_matrix(part)->offset[1] = -5;
}

static void offset_huge(struct hw_part *part)
{
    any_matrix(part)->offset[1] = INT64_MAX;
}

static void index_beyond(struct hw_part *part)
{
    any_matrix(part)->index[any_matrix(part)->offset[any_matrix(part)->rows] - 1] = UINT32_MAX;
}

static void index_twice(struct hw_part *part)
{
    hw_count at = a_list(any_matrix(part));

    any_matrix(part)->index[at + 1] = any_matrix(part)->index[at];
}

static void index_order(struct hw_part *part)
{
    hw_count at = a_list(any_matrix(part));
    hw_lid first = any_matrix(part)->index[at];

    any_matrix(part)->index[at] = any_matrix(part)->index[at + 1];
    any_matrix(part)->index[at + 1] = first;
}

/* The last local row is padding in every test graph; its list moves there. */
static void index_padding(struct hw_part *part)
{
    struct hw_csr *out = any_matrix(part);
    hw_lid r = 0;

    while (out->offset[r + 1] == out->offset[r])
        r++;
    out->index[out->offset[r + 1] - 1] = part->spec.layout == HW_LAYOUT_DEGREE_SEPARATED
                                             ? part->separate.slots - 1
                                             : part->grid.block * (hw_lid)part->spec.columns - 1;
}

static void padding_list(struct hw_part *part)
{
    struct hw_csr *out =
        part->spec.layout == HW_LAYOUT_DEGREE_SEPARATED ? &part->separate.nd : &part->grid.out;

    /* The last row gets the last entry of all. */
    for (hw_lid r = out->rows - 1; r > 0 && out->offset[r] == out->offset[out->rows]; r--)
        out->offset[r]--;
}

static void endless(struct hw_part *part)
{
    any_matrix(part)->weight[0].f32 = INFINITY;
}

static void delegates_order(struct hw_part *part)
{
    hw_gid search_id = part->separate.search_id[0], graph_id = part->separate.graph_id[0];

    part->separate.search_id[0] = part->separate.search_id[1];
    part->separate.graph_id[0] = part->separate.graph_id[1];
    part->separate.search_id[1] = search_id;
    part->separate.graph_id[1] = graph_id;
}

static void delegate_beyond(struct hw_part *part)
{
    part->separate.search_id[part->separate.delegates - 1] = part->vertices;
}

static void delegate_other(struct hw_part *part)
{
    for (hw_lid d = 0; d < part->separate.delegates; d++)
        part->separate.graph_id[d] = (part->separate.graph_id[d] + 1) % part->vertices;
}

static void slot_of_delegate(struct hw_part *part)
{
    /* A delegate that this part owns, named as though it were normal. */
    for (hw_lid d = 0; d < part->separate.delegates; d++)
        if (hw_owner(&part->spec, part->separate.search_id[d]) == part->index)
            part->separate.dn.index[0] = hw_position(&part->spec, part->separate.search_id[d]);
}

static void nn_beyond(struct hw_part *part)
{
    part->separate.nn.target[part->separate.nn.offset[part->separate.nn.rows] - 1] = part->vertices;
}

/* Spoils every part, writes them, and reads them again. */
static void test_spoil(struct tap *tap, const struct desk *desk, const struct hw_layout_spec *spec,
                       const struct spoil *spoil)
{
    struct hw_error err = {{0}};
    struct random_graph fixture = make_random_graph(101, 700, false, HW_WEIGHTS_F32);
    struct hw_part *part = calloc(2, sizeof *part), again = {0};
    int ranks = desk->ctx->size, rank = desk->ctx->rank;
    int first = spec->parts * rank / ranks, count = spec->parts * (rank + 1) / ranks - first;
    char digest[HW_DIGEST_SIZE];

    bool right = hw_parts_build_list(desk->ctx, &fixture.desc, &fixture.edges, spec, first, count,
                                     part, &err) == HW_OK;
    for (int p = 0; p < count && right; p++)
        spoil->apply(&part[p]);
    right = right && write_parts(desk, part, first, count, digest, &err) == HW_OK &&
            read_part(desk, spec->parts - 1 - rank, true, &again, &err) == HW_BAD_INPUT;
    tap_ok(tap,
           right && strncmp(err.text, desk->path, strlen(desk->path)) == 0 &&
               strstr(err.text, spoil->message) != NULL && again.own.graph_id == NULL,
           "%s, %s: %s", spec->layout == HW_LAYOUT_2D ? "grid" : "separated", spoil->what,
           err.text);
    for (int p = 0; p < count; p++)
        hw_part_free(&part[p]);
    hw_part_free(&again);
    free(part);
    free_random_graph(&fixture);
}

static void test_spoils(struct tap *tap, const struct desk *desk)
{
    static const struct spoil both[] = {{"a vertex twice", twice, "twice"},
                                        {"a vertex beyond", beyond, "/vertices/graph_id"},
                                        {"tuples below zero", no_tuples, "/vertices/tuples"},
                                        {"a loop of nobody", loop_of_nobody, "/loops/position"},
                                        {"a loop twice", loop_twice, "/loops/position"},
                                        {"a loop not negative", loop_positive, "/loops/weight"},
                                        {"offsets not from 0", offset_start, "/offset"},
                                        {"falling offsets", offset_falls, "/offset"},
                                        {"a negative offset", offset_negative, "/offset"},
                                        {"a huge offset", offset_huge, "/offset"},
                                        {"an index beyond", index_beyond, "/index"},
                                        {"an index twice", index_twice, "/index"},
                                        {"a list out of order", index_order, "/index"},
                                        {"an index that is padding", index_padding, "/index"},
                                        {"a list of padding", padding_list, "/offset"},
                                        {"an infinite weight", endless, "/weight"}};
    static const struct spoil separated[] = {
        {"delegates out of order", delegates_order, "/delegates/search_id"},
        {"a delegate beyond", delegate_beyond, "/delegates/search_id"},
        {"other delegates", delegate_other, "/delegates/graph_id"},
        {"a delegate's slot", slot_of_delegate, "/dn/index"},
        {"an nn target beyond", nn_beyond, "/nn/target"}};
    static const struct spoil whole = {"tuples that do not add up", more_tuples, "adds up"};
    const struct hw_layout_spec grid = {.layout = HW_LAYOUT_2D,
                                        .order = HW_ORDER_NONE,
                                        .parts = 2,
                                        .rows = 1,
                                        .columns = 2,
                                        .weights = true};
    const struct hw_layout_spec separate = {.layout = HW_LAYOUT_DEGREE_SEPARATED,
                                            .order = HW_ORDER_NONE,
                                            .parts = 2,
                                            .nodes = 1,
                                            .devices = 2,
                                            .threshold = 9,
                                            .weights = true};

    if (desk->ctx->size > 2)
        return;
    for (size_t i = 0; i < sizeof both / sizeof *both; i++) {
        test_spoil(tap, desk, &grid, &both[i]);
        test_spoil(tap, desk, &separate, &both[i]);
    }
    for (size_t i = 0; i < sizeof separated / sizeof *separated; i++)
        test_spoil(tap, desk, &separate, &separated[i]);
    if (desk->ctx->size == 2)
        test_spoil(tap, desk, &grid, &whole);
}

static void test_index(struct tap *tap, const struct desk *desk)
{
    struct hw_error err = {{0}};
    struct hw_part part = {0};

    tap_ok(tap, read_part(desk, 99, true, &part, &err) == HW_BAD_INPUT,
           "a part that is not there: %s", err.text);
}

static void tests(struct tap *tap, struct hw_context *ctx)
{
    tap_plan_by_ranks(tap, (const int[TAP_RANKS]){49, 50, 12, 12, 12, 12});
    struct desk desk;

    if (tap_ok(tap, open_desk(tap, &desk, ctx), "a folder for the files")) {
        test_rounds(tap, &desk);
        test_index(tap, &desk);
        test_spoils(tap, &desk);
        tap_drop_folder(tap, desk.folder);
    }
}

int main(int argc, char **argv)
{
    return tap_ranks(argc, argv, "test_file", tests);
}
