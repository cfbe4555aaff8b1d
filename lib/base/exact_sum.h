/*
 * Exact sums of floats: a fixed-point number wide enough for every float, so
 * that nothing is lost whatever the order, the signs and the magnitudes.
 */
#ifndef HOPWAVE_BASE_EXACT_SUM_H
#define HOPWAVE_BASE_EXACT_SUM_H

#include <stdint.h>

/* 384 bits: floats span 2^-149 to 2^128, which leaves 2^106 terms before the
 * sign can be reached. */
#define HW_EXACT_WORDS 6

/* A number in two's complement, lowest word first, in units of 2^-149.
 * Zero-initialise. */
struct hw_exact {
    uint64_t word[HW_EXACT_WORDS];
};

/* Adds a finite float. Local. */
void hw_exact_add(struct hw_exact *sum, float term);

/* -1, 0 or 1: the sign, exactly. Local. */
int hw_exact_sign(const struct hw_exact *sum);

/* The nearest double, ties to even. Local. */
double hw_exact_double(const struct hw_exact *sum);

#endif
