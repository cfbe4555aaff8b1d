#include "lib/engine/core/cpu_methods.h"

#include "gpu/hopwave_gpu.h"

#include <stdio.h>
#include <string.h>

/* The CPU methods, NULL-ended. Where several apply to a part, `auto` takes the first. */
static const struct hw_method *const cpu_methods[] = {
    &hw_method_grid,
    &hw_method_delegates,
    &hw_method_sequential,
    &hw_method_delta,
    &hw_method_bellman_ford,
    &hw_method_sssp_delegates_delta,
    &hw_method_sssp_delegates_bellman_ford,
    &hw_method_dijkstra,
    NULL,
};
#define CPU_METHODS (sizeof cpu_methods / sizeof cpu_methods[0] - 1)

const struct hw_method *const *hw_methods(void)
{
    static const struct hw_method *all[CPU_METHODS + HW_GPU_METHODS + 1];
    const struct hw_method *const *gpu = hw_gpu_methods();
    size_t count = 0;

    /* Every call writes the same, so that it does not matter who came first. */
    for (size_t m = 0; cpu_methods[m]; m++)
        all[count++] = cpu_methods[m];
    for (size_t m = 0; gpu[m] && m < HW_GPU_METHODS; m++)
        all[count++] = gpu[m];
    return all;
}

static bool applies(const struct hw_method *method, enum hw_device device,
                    enum hw_algorithm algorithm, const struct hw_part *part)
{
    bool separated = part->spec.layout == HW_LAYOUT_DEGREE_SEPARATED;

    return method->ops->device == device && method->algorithm == algorithm &&
           (separated ? method->degree_separated : method->grid) &&
           (!method->one_part_only || part->spec.parts == 1) &&
           (!method->several_parts_only || part->spec.parts > 1) &&
           (!method->one_row_only || separated || part->spec.rows == 1);
}

/* "grid, delegates": the methods that apply, or "none". */
static void list_those(enum hw_device device, enum hw_algorithm algorithm,
                       const struct hw_part *part, char *text, size_t size)
{
    size_t used = 0;

    snprintf(text, size, "none");
    for (const struct hw_method *const *m = hw_methods(); *m && used < size; m++)
        if (applies(*m, device, algorithm, part))
            used +=
                (size_t)snprintf(text + used, size - used, "%s%s", used ? ", " : "", (*m)->name);
}

enum hw_status hw_method_choose(const char *name, enum hw_device device,
                                enum hw_algorithm algorithm, const struct hw_part *part,
                                const struct hw_method **method, struct hw_error *err)
{
    static const char *const layouts[] = {"1d", "2d", "degree-separated"};
    char those[512];
    bool any = strcmp(name, "auto") == 0;

    for (const struct hw_method *const *m = hw_methods(); *m; m++) {
        if (applies(*m, device, algorithm, part) && (any || strcmp(name, (*m)->name) == 0)) {
            *method = *m;
            return HW_OK;
        }
    }
    list_those(device, algorithm, part, those, sizeof those);
    return hw_fail(err, HW_BAD_INPUT,
                   "method %s does not do %s on %s with %d part%s in the %s layout; those that "
                   "do: %s",
                   name, algorithm == HW_BFS ? "bfs" : "sssp",
                   device == HW_CPU ? "a cpu" : "a cuda device", part->spec.parts,
                   part->spec.parts == 1 ? "" : "s", layouts[part->spec.layout], those);
}
