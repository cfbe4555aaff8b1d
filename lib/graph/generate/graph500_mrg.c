#include "lib/graph/generate/graph500_mrg.h"

struct hw_mrg hw_mrg_seed(uint64_t seed1, uint64_t seed2)
{
    const uint64_t mask = 0x3FFFFFFF;

    return (struct hw_mrg){{(uint32_t)(seed1 & mask) + 1, (uint32_t)(seed1 >> 30 & mask) + 1,
                            (uint32_t)(seed2 & mask) + 1, (uint32_t)(seed2 >> 30 & mask) + 1,
                            (uint32_t)((seed2 >> 60) << 4) + (uint32_t)(seed1 >> 60) + 1}};
}

/* The matrix of one step. */
static struct hw_mrg_matrix one_step(void)
{
    return (struct hw_mrg_matrix){{{107374182, 0, 0, 0, 104480},
                                   {1, 0, 0, 0, 0},
                                   {0, 1, 0, 0, 0},
                                   {0, 0, 1, 0, 0},
                                   {0, 0, 0, 1, 0}}};
}

struct hw_mrg_matrix hw_mrg_square(const struct hw_mrg_matrix *matrix)
{
    struct hw_mrg_matrix square;

    for (int r = 0; r < 5; r++)
        for (int c = 0; c < 5; c++)
            square.m[r][c] = hw_mrg_dot(matrix->m[r], matrix->m[0][c], matrix->m[1][c],
                                        matrix->m[2][c], matrix->m[3][c], matrix->m[4][c]);
    return square;
}

struct hw_mrg_matrix hw_mrg_steps(int exponent)
{
    struct hw_mrg_matrix matrix = one_step();

    for (int i = 0; i < exponent; i++)
        matrix = hw_mrg_square(&matrix);
    return matrix;
}

void hw_mrg_skip(struct hw_mrg *state, uint64_t high, uint64_t middle, uint64_t low)
{
    const uint64_t count[3] = {low, middle, high};
    struct hw_mrg_matrix matrix = one_step();

    for (int bit = 0; bit < 192; bit++) {
        if (count[bit / 64] >> (bit % 64) & 1)
            *state = hw_mrg_apply(&matrix, state);
        matrix = hw_mrg_square(&matrix);
    }
}
