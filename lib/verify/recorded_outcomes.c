#include "lib/verify/recorded_outcomes.h"

#include "lib/base/memory.h"

#include <stdlib.h>
#include <string.h>

/* /outcome and /cycle in the file's format. */
struct packed {
    hw_count searches, vertices;
    int32_t *outcome; /* [searches] 0: a tree, 1: a negative cycle */
    hw_count *offset; /* [searches+1] */
    hw_gid *vertex;   /* [vertices] */
    double *real;     /* [searches], or NULL */
    int64_t *whole;   /* [searches], or NULL */
};

static void packed_free(struct packed *packed)
{
    free(packed->outcome);
    free(packed->offset);
    free(packed->vertex);
    free(packed->real);
    free(packed->whole);
}

/* Allocates and reads a one-dimensional dataset; the array of a missing one is
 * zeroed. Collective. */
static enum hw_status read_array(const struct hw_context *ctx, struct hw_store *store,
                                 const char *path, enum hw_type type, size_t size, hw_count count,
                                 void *out, struct hw_error *err)
{
    void **array = out;
    enum hw_status status = hw_alloc_zero(array, count, size, "cycles", err);

    status = hw_agree(ctx->world, status, err);
    if (status == HW_OK && hw_store_shape(store, path, NULL))
        status = hw_store_read_all(store, path, type, count, *array, err);
    return status;
}

/* Collective. */
static enum hw_status read_packed(const struct hw_context *ctx, struct hw_store *store,
                                  enum hw_value value, struct packed *packed, struct hw_error *err)
{
    struct hw_shape shape = {.type = HW_I64};

    hw_store_shape(store, "/outcome", &shape);
    packed->searches = shape.columns;
    if (hw_store_shape(store, "/cycle/vertex", &shape))
        packed->vertices = shape.columns;
    enum hw_status status = read_array(ctx, store, "/outcome", HW_I32, sizeof *packed->outcome,
                                       packed->searches, &packed->outcome, err);
    if (status == HW_OK)
        status = read_array(ctx, store, "/cycle/offset", HW_I64, sizeof *packed->offset,
                            packed->searches + 1, &packed->offset, err);
    if (status == HW_OK)
        status = read_array(ctx, store, "/cycle/vertex", HW_I64, sizeof *packed->vertex,
                            packed->vertices, &packed->vertex, err);
    if (status == HW_OK && value == HW_VALUE_F32)
        status = read_array(ctx, store, "/cycle/weight", HW_F64, sizeof *packed->real,
                            packed->searches, &packed->real, err);
    if (status == HW_OK && value == HW_VALUE_I64)
        status = read_array(ctx, store, "/cycle/weight", HW_I64, sizeof *packed->whole,
                            packed->searches, &packed->whole, err);
    return status;
}

/* Checks that exactly the searches whose outcome is a cycle have one. */
static enum hw_status check_packed(const struct packed *packed, const char *path,
                                   struct hw_error *err)
{
    for (hw_count i = 0; i < packed->searches; i++) {
        hw_count begin = packed->offset[i], end = packed->offset[i + 1];
        if (packed->outcome[i] != 0 && packed->outcome[i] != 1)
            return hw_fail(err, HW_BAD_INPUT,
                           "%s: /outcome of search %" PRI_COUNT
                           " is %d, neither 0 (a tree) nor 1 (a negative cycle)",
                           path, i, packed->outcome[i]);
        if (begin < 0 || end < begin || end > packed->vertices ||
            (end > begin) != (packed->outcome[i] == 1))
            return hw_fail(err, HW_BAD_INPUT,
                           "%s: /cycle/offset does not fit /outcome at search %" PRI_COUNT, path,
                           i);
    }
    if (packed->searches > 0 &&
        (packed->offset[0] != 0 || packed->offset[packed->searches] != packed->vertices))
        return hw_fail(err, HW_BAD_INPUT, "%s: /cycle/offset does not cover /cycle/vertex", path);
    return HW_OK;
}

/* Makes the cycles of the first searches; their vertices are not copied. */
static enum hw_status unpack(struct packed *packed, struct hw_answers *answers,
                             struct hw_error *err)
{
    enum hw_status status =
        hw_alloc_zero(&answers->cycle, answers->count, sizeof *answers->cycle, "cycles", err);

    if (status != HW_OK)
        return status;
    answers->vertex = packed->vertex;
    packed->vertex = NULL;
    for (hw_count i = 0; i < answers->count; i++) {
        hw_count length = packed->offset[i + 1] - packed->offset[i];
        if (length > 0)
            answers->cycle[i] = (struct hw_cycle){.length = length,
                                                  .vertex = answers->vertex + packed->offset[i],
                                                  .real = packed->real ? packed->real[i] : 0,
                                                  .whole = packed->whole ? packed->whole[i] : 0};
    }
    return HW_OK;
}

enum hw_status hw_answers_read(const struct hw_context *ctx, struct hw_store *store,
                               const char *path, enum hw_value value, hw_count trees,
                               struct hw_answers *answers, struct hw_error *err)
{
    struct packed packed = {0};
    enum hw_status status = read_packed(ctx, store, value, &packed, err);

    *answers = (struct hw_answers){.count = trees};
    if (status == HW_OK)
        status = check_packed(&packed, path, err);
    if (status == HW_OK)
        status = hw_agree(ctx->world, unpack(&packed, answers, err), err);
    packed_free(&packed);
    return status;
}

bool hw_same_cycle(const struct hw_cycle *a, const struct hw_cycle *b)
{
    return a->length == b->length &&
           (a->length == 0 ||
            memcmp(a->vertex, b->vertex, (size_t)a->length * sizeof *a->vertex) == 0);
}

void hw_answers_free(struct hw_answers *answers)
{
    free(answers->cycle);
    free(answers->vertex);
    *answers = (struct hw_answers){0};
}
