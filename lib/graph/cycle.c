#include "lib/graph/cycle.h"

#include <stdlib.h>

void hw_cycle_free(struct hw_cycle *cycle)
{
    free(cycle->vertex);
    *cycle = (struct hw_cycle){0};
}
