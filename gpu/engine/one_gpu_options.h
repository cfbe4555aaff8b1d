/* Options of several methods on GPUs. */
#ifndef HOPWAVE_GPU_ENGINE_ONE_GPU_OPTIONS_H
#define HOPWAVE_GPU_ENGINE_ONE_GPU_OPTIONS_H

#include "lib/engine/core/engine_options.h"

#include <stdbool.h>

/* A switch, on by default: vertices by falling degree, so that lists begin with hubs and isolated
 * vertices come last. Off: vertices, isolated ones among them, are numbered by graph id, as in the
 * papers, whatever the order of the part. */
extern const struct hw_option hw_option_hub_order;

/* A switch, on by default: small levels stay in one block, one after another. */
extern const struct hw_option hw_option_single_block_levels;

/* Whether vertices are to be numbered by graph id. Then the layout is built on the host: struct
 * hw_method.builds_on_host. Local. */
bool hw_gpu_numbers_by_id(const struct hw_engine_options *options);

#endif
