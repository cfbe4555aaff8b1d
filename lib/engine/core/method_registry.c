#include "gpu/hopwave_gpu.h"
#include "lib/base/nearest_word.h"
#include "lib/engine/core/cpu_method_list.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

/* Methods, and distinct options of methods, at most. */
#define METHODS_MAX 128

const char *const hw_algorithm_words[] = {"bfs", "sssp", NULL};
const char *const hw_device_words[] = {"cpu", "cuda", NULL};

#define ADDRESS(name) &hw_method_##name,
static const struct hw_method *const cpu_methods[] = {HW_CPU_METHOD_LIST(ADDRESS) NULL};
#undef ADDRESS

/* ---- tables: every call writes the same, so that it does not matter who came first ---- */

const struct hw_method *const *hw_methods(void)
{
    static const struct hw_method *all[METHODS_MAX + 1];
    const struct hw_method *const *gpu = hw_gpu_methods();
    size_t count = 0;

    for (size_t m = 0; cpu_methods[m]; m++)
        all[count++] = cpu_methods[m];
    for (size_t m = 0; gpu[m]; m++) {
        assert(count < METHODS_MAX);
        all[count++] = gpu[m];
    }
    return all;
}

const struct hw_method_descriptor *const *hw_method_descriptors(void)
{
    static const struct hw_method_descriptor *all[METHODS_MAX + 1];
    const struct hw_method_descriptor *const *gpu = hw_gpu_method_descriptors();
    size_t count = 0;

    for (size_t m = 0; cpu_methods[m]; m++)
        all[count++] = cpu_methods[m]->descriptor;
    for (size_t m = 0; gpu[m]; m++) {
        assert(count < METHODS_MAX);
        all[count++] = gpu[m];
    }
    return all;
}

bool hw_method_has(const struct hw_method_descriptor *method, const struct hw_option *option)
{
    for (const struct hw_option *const *o = method->options; o && *o; o++)
        if (*o == option)
            return true;
    return false;
}

const struct hw_option *const *hw_method_options(void)
{
    static const struct hw_option *all[HW_OPTIONS_MAX + 1];
    size_t count = 0;

    for (const struct hw_method_descriptor *const *m = hw_method_descriptors(); *m; m++)
        for (const struct hw_option *const *o = (*m)->options; o && *o; o++) {
            size_t at = 0;
            while (at < count && all[at] != *o)
                at++;
            assert(at < HW_OPTIONS_MAX);
            all[at] = *o;
            count = at == count ? count + 1 : count;
        }
    return all;
}

/* ---- choice ---- */

/* What a method is asked to do. */
struct request {
    enum hw_device device;
    enum hw_algorithm algorithm;
    bool negative_weights;
    const struct hw_part *part;
};

static bool applies(const struct hw_method_descriptor *method, const struct request *request)
{
    static const unsigned bits[] = {[HW_LAYOUT_1D] = HW_ON_1D,
                                    [HW_LAYOUT_2D] = HW_ON_2D,
                                    [HW_LAYOUT_DEGREE_SEPARATED] = HW_ON_DEGREE_SEPARATED};
    const struct hw_layout_spec *spec = &request->part->spec;
    const bool separated = spec->layout == HW_LAYOUT_DEGREE_SEPARATED;

    return method->device == request->device && method->algorithm == request->algorithm &&
           (method->layouts & bits[spec->layout]) &&
           (method->parts != HW_PARTS_ONE || spec->parts == 1) &&
           (method->parts != HW_PARTS_SEVERAL || spec->parts > 1) &&
           (!method->one_row_only || separated || spec->rows == 1) &&
           (!request->negative_weights || method->negative_weights);
}

/* "grid, delegates": the methods that apply, or "none". */
static void list_those(const struct request *request, char *text, size_t size)
{
    size_t used = 0;

    snprintf(text, size, "none");
    for (const struct hw_method_descriptor *const *m = hw_method_descriptors(); *m && used < size;
         m++)
        if (applies(*m, request))
            used +=
                (size_t)snprintf(text + used, size - used, "%s%s", used ? ", " : "", (*m)->name);
}

/* The engine behind a descriptor; NULL if this build has none. */
static const struct hw_method *engine_of(const struct hw_method_descriptor *descriptor)
{
    for (const struct hw_method *const *m = hw_methods(); *m; m++)
        if ((*m)->descriptor == descriptor)
            return *m;
    return NULL;
}

static enum hw_status choose(const char *name, const struct request *request,
                             const struct hw_method **method, struct hw_error *err)
{
    static const char *const layouts[] = {"1d", "2d", "degree-separated"};
    const struct hw_layout_spec *spec = &request->part->spec;
    const bool any = strcmp(name, "auto") == 0;
    char those[512];

    for (const struct hw_method_descriptor *const *m = hw_method_descriptors(); *m; m++) {
        if (!applies(*m, request) || (!any && strcmp(name, (*m)->name) != 0))
            continue;
        *method = engine_of(*m);
        if (!*method)
            return hw_fail(err, HW_RESOURCES, "--device cuda: method %s: this build has no CUDA",
                           (*m)->name);
        return HW_OK;
    }
    list_those(request, those, sizeof those);
    return hw_fail(err, HW_BAD_INPUT,
                   "method %s does not do %s%s on %s with %d part%s in the %s layout; those that "
                   "do: %s",
                   name, request->algorithm == HW_BFS ? "bfs" : "sssp",
                   request->negative_weights ? " with negative weights" : "",
                   request->device == HW_CPU ? "a cpu" : "a cuda device", spec->parts,
                   spec->parts == 1 ? "" : "s", layouts[spec->layout], those);
}

enum hw_status hw_method_choose(const char *name, enum hw_device device,
                                enum hw_algorithm algorithm, const struct hw_part *part,
                                const struct hw_method **method, struct hw_error *err)
{
    const struct request request = {.device = device, .algorithm = algorithm, .part = part};

    return choose(name, &request, method, err);
}

enum hw_status hw_method_choose_negative(enum hw_device device, const struct hw_part *part,
                                         const struct hw_method **method, struct hw_error *err)
{
    const struct request request = {
        .device = device, .algorithm = HW_SSSP, .negative_weights = true, .part = part};

    return choose("auto", &request, method, err);
}

enum hw_status hw_method_check_name(const char *name, struct hw_error *err)
{
    const char *names[METHODS_MAX + 2] = {"auto"};
    int count = 1;

    for (const struct hw_method_descriptor *const *m = hw_method_descriptors(); *m; m++)
        names[count++] = (*m)->name;
    for (int n = 0; n < count; n++)
        if (strcmp(names[n], name) == 0)
            return HW_OK;
    const char *nearest = hw_nearest_word(name, names);
    if (nearest)
        return hw_fail(err, HW_USAGE, "no method is named '%s'; did you mean '%s'?", name, nearest);
    return hw_fail(err, HW_USAGE, "no method is named '%s'; --list-methods names them", name);
}

/* ---- options ---- */

/* Whether all methods with an option are for shortest paths. */
static bool is_sssp_option(const struct hw_option *option)
{
    for (const struct hw_method_descriptor *const *m = hw_method_descriptors(); *m; m++)
        if ((*m)->algorithm != HW_SSSP && hw_method_has(*m, option))
            return false;
    return true;
}

/* Where a method runs, as opposed to others of its name: " on one GPU". */
static const char *place_of(const struct hw_method_descriptor *method)
{
    if (method->device == HW_CPU)
        return " on CPUs";
    if (method->layouts == HW_ON_DEGREE_SEPARATED)
        return " on GPUs in the degree-separated layout";
    return method->parts == HW_PARTS_ONE       ? " on one GPU"
           : method->parts == HW_PARTS_SEVERAL ? " on several GPUs"
                                               : " on GPUs";
}

/* "method merge" or "methods bellman-ford on one GPU and near-far": those with an option. Places
 * are named for methods of the chosen one's name. */
static void list_owners(const struct hw_option *option, const struct hw_method_descriptor *chosen,
                        char *text, size_t size)
{
    const struct hw_method_descriptor *const *all = hw_method_descriptors();
    const char *owner[METHODS_MAX], *place[METHODS_MAX];
    int owners = 0;

    for (int m = 0; all[m]; m++) {
        const bool alike = strcmp(all[m]->name, chosen->name) == 0;
        bool known = !hw_method_has(all[m], option);
        for (int o = 0; o < owners && !known; o++)
            known = !alike && strcmp(owner[o], all[m]->name) == 0;
        if (known)
            continue;
        owner[owners] = all[m]->name;
        place[owners++] = alike ? place_of(all[m]) : "";
    }
    size_t used = (size_t)snprintf(text, size, "method%s ", owners == 1 ? "" : "s");
    for (int o = 0; o < owners && used < size; o++)
        used += (size_t)snprintf(text + used, size - used, "%s%s%s",
                                 o == 0            ? ""
                                 : o == owners - 1 ? " and "
                                                   : ", ",
                                 owner[o], place[o]);
}

static enum hw_status check_own(const struct hw_engine_options *options, struct hw_error *err)
{
    const struct hw_option_values *values = &options->values;

    for (int i = 0; i < values->count; i++) {
        const struct hw_option *option = values->given[i].option;
        if (options->algorithm != HW_SSSP && hw_option_asks(values, option) &&
            is_sssp_option(option))
            return hw_fail(err, HW_USAGE, "--%s is for --algorithm sssp", option->name);
        HW_TRY(hw_option_check_requires(option, values, err));
    }
    for (const struct hw_method_descriptor *const *m = hw_method_descriptors(); *m; m++)
        for (int i = 0; i < values->count; i++)
            if ((*m)->check && hw_method_has(*m, values->given[i].option)) {
                HW_TRY((*m)->check(options, err));
                break;
            }
    return HW_OK;
}

enum hw_status hw_method_check_options(const struct hw_method_descriptor *method,
                                       const struct hw_engine_options *options,
                                       struct hw_error *err)
{
    const struct hw_option_values *values = &options->values;
    char owners[512];

    HW_TRY(check_own(options, err));
    for (int i = 0; i < values->count && method; i++) {
        const struct hw_option *option = values->given[i].option;
        if (!hw_option_asks(values, option) || hw_method_has(method, option))
            continue;
        list_owners(option, method, owners, sizeof owners);
        return hw_fail(err, HW_BAD_INPUT, "--%s is for %s, and the method is %s%s", option->name,
                       owners, method->name, strstr(owners, method->name) ? place_of(method) : "");
    }
    return HW_OK;
}

/* ---- as published ---- */

/* "adaptive, merge": the methods with a table of published options, each once, or "none". */
static void list_published(char *text, size_t size)
{
    const struct hw_method_descriptor *const *all = hw_method_descriptors();
    size_t used = 0;

    snprintf(text, size, "none");
    for (int m = 0; all[m] && used < size; m++) {
        bool known = !all[m]->published;
        for (int e = 0; e < m && !known; e++)
            known = all[e]->published && strcmp(all[e]->name, all[m]->name) == 0;
        if (!known)
            used +=
                (size_t)snprintf(text + used, size - used, "%s%s", used ? ", " : "", all[m]->name);
    }
}

enum hw_status hw_method_publish(const struct hw_method_descriptor *method,
                                 struct hw_option_values *values, struct hw_error *err)
{
    char those[512];

    if (!method->published) {
        list_published(those, sizeof those);
        return hw_fail(err, HW_BAD_INPUT,
                       "--as-published: method %s%s has no option that a paper sets otherwise; "
                       "those that have: %s",
                       method->name, strstr(those, method->name) ? place_of(method) : "", those);
    }
    for (const struct hw_published_option *p = method->published; p->option; p++)
        if (!hw_option_given(values, p->option) && hw_option_applies(p->option, values))
            HW_TRY(hw_option_parse(p->option, p->value, values, err));
    return HW_OK;
}
