#include "lib/graph/generate/random.h"

HW_CLONES
void hw_random_batch(uint64_t seed, enum hw_random_stream stream, uint64_t first, uint32_t part,
                     uint32_t words[4][HW_RANDOM_BATCH])
{
    for (int i = 0; i < HW_RANDOM_BATCH; i++) {
        struct hw_random made = hw_random(seed, stream, first + (uint64_t)i, part);
        for (int w = 0; w < 4; w++)
            words[w][i] = made.word[w];
    }
}
