/* Generator specs as attributes of /parameters. */
#include "lib/graph/generate/generator_spec.h"

#include <string.h>

/* The version of the algorithms, kept in generator specs: a change that makes other
 * tuples from the same parameters raises it. */
#define GENERATOR_VERSION 1

static const char *const quarter_names[] = {"a", "b", "c", "d"};
static const char *const size_names[HW_DIMENSIONS] = {"size_x", "size_y", "size_z"};

/* One attribute of a generator spec, and where its value lies. */
struct field {
    const char *name;
    enum { FIELD_I64, FIELD_U64, FIELD_I32, FIELD_INT, FIELD_BOOL, FIELD_F64 } type;
    void *value;
};

/* Room for the fields of any generator spec. */
#define MAX_FIELDS 12

/* Lists the fields that the generator spec's model and weights have, with their names.
 * Returns how many. */
static int fields_of(struct hw_generator_spec *spec, struct field field[MAX_FIELDS])
{
    int n = 0;
    const uint32_t has = hw_model_parameters(spec->model);

    if (has & HW_PARAMETER_SCALE)
        field[n++] = (struct field){"scale", FIELD_INT, &spec->scale};
    if (has & HW_PARAMETER_EDGE_FACTOR)
        field[n++] = (struct field){"edge_factor", FIELD_I64, &spec->edge_factor};
    if (has & HW_PARAMETER_QUARTERS)
        for (int i = 0; i < 4; i++)
            field[n++] = (struct field){quarter_names[i], FIELD_F64, &spec->abcd[i]};
    if (has & HW_PARAMETER_DIMENSIONS)
        field[n++] = (struct field){"dimensions", FIELD_INT, &spec->dimensions};
    if (has & HW_PARAMETER_SIZES)
        for (int d = 0; d < HW_DIMENSIONS; d++)
            field[n++] = (struct field){size_names[d], FIELD_I64, &spec->size[d]};
    if (has & HW_PARAMETER_DEGREE)
        field[n++] = (struct field){"degree", FIELD_F64, &spec->degree};
    if (has & HW_PARAMETER_SCRAMBLE)
        field[n++] = (struct field){"scramble", FIELD_BOOL, &spec->scramble};
    if (has & HW_PARAMETER_TWO_SEEDS) {
        field[n++] = (struct field){"seed1", FIELD_U64, &spec->seed1};
        field[n++] = (struct field){"seed2", FIELD_U64, &spec->seed2};
    }
    if (has & HW_PARAMETER_SEED)
        field[n++] = (struct field){"seed", FIELD_U64, &spec->seed};
    if (spec->has_probability || has & HW_PARAMETER_PROBABILITY)
        field[n++] = (struct field){"probability", FIELD_F64, &spec->probability};
    if (spec->weighting == HW_WEIGHTING_INTEGER) {
        field[n++] = (struct field){"weight_low", FIELD_I32, &spec->low};
        field[n++] = (struct field){"weight_high", FIELD_I32, &spec->high};
    }
    return n;
}

static int64_t field_integer(const struct field *field)
{
    switch (field->type) {
    case FIELD_I64:
        return *(const int64_t *)field->value;
    case FIELD_U64:
        return (int64_t)(*(const uint64_t *)field->value);
    case FIELD_I32:
        return *(const int32_t *)field->value;
    case FIELD_INT:
        return *(const int *)field->value;
    case FIELD_BOOL:
        return *(const bool *)field->value;
    default:
        return 0;
    }
}

enum hw_status hw_generator_spec_write(const struct hw_generator_spec *spec, struct hw_store *store,
                                       struct hw_error *err)
{
    struct hw_generator_spec copy = *spec;
    struct field field[MAX_FIELDS];
    int fields = fields_of(&copy, field);

    HW_TRY(
        hw_store_set_string(store, HW_AT_PARAMETERS, "model", hw_model_names()[spec->model], err));
    HW_TRY(hw_store_set_i64(store, HW_AT_PARAMETERS, "generator", GENERATOR_VERSION, err));
    HW_TRY(hw_store_set_string(store, HW_AT_PARAMETERS, "weighting",
                               hw_weighting_names()[spec->weighting], err));
    for (int i = 0; i < fields; i++) {
        if (field[i].type == FIELD_F64)
            HW_TRY(hw_store_set_f64(store, HW_AT_PARAMETERS, field[i].name,
                                    *(const double *)field[i].value, err));
        else
            HW_TRY(hw_store_set_i64(store, HW_AT_PARAMETERS, field[i].name,
                                    field_integer(&field[i]), err));
    }
    return HW_OK;
}

/* Reads one of the words of a NULL-ended list. */
static enum hw_status read_word(const struct hw_store *store, const char *name,
                                const char *const *words, int *out, struct hw_error *err)
{
    char text[64];

    HW_TRY(hw_store_get_string(store, HW_AT_PARAMETERS, name, text, sizeof text, err));
    for (int i = 0; words[i]; i++) {
        if (strcmp(words[i], text) == 0) {
            *out = i;
            return HW_OK;
        }
    }
    return hw_fail(err, HW_BAD_INPUT, "the recipe's %s '%s' is not known", name, text);
}

/* Reads one field; integers must fit. */
static enum hw_status read_field(const struct hw_store *store, const struct field *field,
                                 struct hw_error *err)
{
    int64_t value = 0;

    if (field->type == FIELD_F64)
        return hw_store_get_f64(store, HW_AT_PARAMETERS, field->name, field->value, err);
    HW_TRY(hw_store_get_i64(store, HW_AT_PARAMETERS, field->name, &value, err));
    switch (field->type) {
    case FIELD_I64:
        *(int64_t *)field->value = value;
        break;
    case FIELD_U64:
        *(uint64_t *)field->value = (uint64_t)value;
        break;
    case FIELD_I32:
        *(int32_t *)field->value = (int32_t)value;
        break;
    case FIELD_INT:
        *(int *)field->value = (int)value;
        break;
    default:
        *(bool *)field->value = value != 0;
        break;
    }
    if (field_integer(field) != value || (field->type == FIELD_U64 && value < 0))
        return hw_fail(err, HW_BAD_INPUT, "the recipe's %s is %" PRId64 ", out of range",
                       field->name, value);
    return HW_OK;
}

/* Checks that the root attribute `weights` is the type of the generator spec's weights. */
static enum hw_status check_weights_attribute(const struct hw_store *store,
                                              const struct hw_generator_spec *spec,
                                              struct hw_error *err)
{
    static const char *const names[] = {"none", "f32", "i32"};
    const char *made = names[hw_weighting_type(spec->weighting)];
    char text[16];

    HW_TRY(hw_store_get_string(store, HW_AT_ROOT, "weights", text, sizeof text, err));
    if (strcmp(text, made) != 0)
        return hw_fail(err, HW_BAD_INPUT, "the recipe makes weights of type %s, the file says %s",
                       made, text);
    return HW_OK;
}

/* Reads model, weights and fields into a generator spec whose root values are set. */
static enum hw_status read_parameters(const struct hw_store *store, struct hw_generator_spec *spec,
                                      struct hw_error *err)
{
    struct field field[MAX_FIELDS];
    int64_t version = 0;
    int model = 0, weighting = 0;

    enum hw_status status = read_word(store, "model", hw_model_names(), &model, err);
    if (status == HW_OK)
        status = read_word(store, "weighting", hw_weighting_names(), &weighting, err);
    if (status == HW_OK)
        status = hw_store_get_i64(store, HW_AT_PARAMETERS, "generator", &version, err);
    if (status == HW_OK && version != GENERATOR_VERSION)
        status = hw_fail(err, HW_BAD_INPUT,
                         "made for version %" PRId64 " of the generators, this is version %d",
                         version, GENERATOR_VERSION);
    spec->model = (enum hw_model)model;
    spec->weighting = (enum hw_weighting)weighting;
    spec->has_probability =
        spec->model == HW_MODEL_ERDOS_RENYI && hw_store_has(store, HW_AT_PARAMETERS, "probability");
    int fields = fields_of(spec, field);
    for (int i = 0; i < fields && status == HW_OK; i++)
        status = read_field(store, &field[i], err);
    return status;
}

enum hw_status hw_generator_spec_read(struct hw_store *store, struct hw_generator_spec *spec,
                                      struct hw_error *err)
{
    int64_t directed = 0;

    *spec = (struct hw_generator_spec){0};
    HW_TRY(hw_store_get_i64(store, HW_AT_ROOT, "vertices", &spec->vertices, err));
    HW_TRY(hw_store_get_i64(store, HW_AT_ROOT, "edges", &spec->edges, err));
    HW_TRY(hw_store_get_i64(store, HW_AT_ROOT, "directed", &directed, err));
    spec->directed = directed != 0;
    HW_TRY(read_parameters(store, spec, err));
    HW_TRY(check_weights_attribute(store, spec, err));
    struct hw_generator_spec whole = *spec;
    if (hw_generator_spec_complete(&whole, err) != HW_OK)
        return hw_prefix(err, HW_BAD_INPUT, "the recipe is wrong");
    if (whole.vertices != spec->vertices || whole.edges != spec->edges)
        return hw_fail(err, HW_BAD_INPUT,
                       "the recipe makes %" PRI_GID " vertices and %" PRI_COUNT
                       " edges, the file says %" PRI_GID " and %" PRI_COUNT,
                       whole.vertices, whole.edges, spec->vertices, spec->edges);
    return HW_OK;
}
