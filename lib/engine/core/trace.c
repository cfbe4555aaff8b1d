#include "lib/engine/core/engine.h"

#include <stdlib.h>
#include <string.h>

struct hw_step *hw_steps_add(struct hw_steps *steps)
{
    if (steps->count == steps->capacity) {
        hw_count capacity = steps->capacity ? 2 * steps->capacity : 64;
        struct hw_step *grown = realloc(steps->step, (size_t)capacity * sizeof *grown);
        if (!grown)
            return NULL;
        steps->step = grown;
        steps->capacity = capacity;
    }
    struct hw_step *step = &steps->step[steps->count++];
    memset(step, 0, sizeof *step);
    return step;
}

void hw_steps_clear(struct hw_steps *steps)
{
    steps->count = 0;
}

void hw_steps_free(struct hw_steps *steps)
{
    free(steps->step);
    *steps = (struct hw_steps){0};
}
