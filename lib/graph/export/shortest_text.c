#include "lib/graph/export/shortest_text.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

/* Digits that distinguish a float from all others, and the largest number whose decimals are
 * found without text. */
enum { DIGITS_MAX = 9, DECIMALS_MAX = 12, LARGEST = 1000 };

/*
 * The fewest decimals of a number that reads back as value, and that number; -1 if there are none
 * up to DECIMALS_MAX. Without text, as exports write billions of numbers.
 *
 * The double nearest to the decimal is rounded to a float, where strtof() rounds the decimal
 * itself. The two differ only if the double lies next to the middle between two floats, which
 * is why its neighbours must be rounded to the same float.
 */
static int find_decimals(float value, double *decimal)
{
    double power = 1;

    for (int decimals = 0; decimals <= DECIMALS_MAX; decimals++, power *= 10) {
        const double near = rint((double)value * power) / power;
        if ((float)near == value && (float)nextafter(near, HUGE_VAL) == value &&
            (float)nextafter(near, -HUGE_VAL) == value) {
            *decimal = near;
            return decimals;
        }
    }
    return -1;
}

int hw_shortest_text(float value, char *text)
{
    const float size = fabsf(value);
    double decimal = 0;
    int length = 0;

    if (size < 0x1p24f && rintf(value) == value)
        return snprintf(text, HW_SHORTEST_TEXT, "%.0f", (double)value);
    if (size >= 1e-4f && size < (float)LARGEST) {
        const int decimals = find_decimals(value, &decimal);
        if (decimals >= 0)
            return snprintf(text, HW_SHORTEST_TEXT, "%.*f", decimals, decimal);
    }
    for (int digits = 1; digits <= DIGITS_MAX; digits++) {
        length = snprintf(text, HW_SHORTEST_TEXT, "%.*g", digits, (double)value);
        if (strtof(text, NULL) == value)
            break;
    }
    return length;
}
