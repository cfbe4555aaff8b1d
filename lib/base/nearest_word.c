#include "lib/base/nearest_word.h"

#include <string.h>

/* Longer words are near no others. */
#define LENGTH_MAX 64

static int min(int a, int b)
{
    return a < b ? a : b;
}

/* The optimal string alignment distance. */
static int distance(const char *a, const char *b)
{
    const int rows = (int)strlen(a), columns = (int)strlen(b);
    int cost[LENGTH_MAX + 1][LENGTH_MAX + 1];

    for (int i = 0; i <= rows; i++)
        for (int j = 0; j <= columns; j++) {
            if (i == 0 || j == 0) {
                cost[i][j] = i + j;
                continue;
            }
            const int change = a[i - 1] != b[j - 1];
            cost[i][j] = min(cost[i - 1][j - 1] + change, 1 + min(cost[i - 1][j], cost[i][j - 1]));
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                cost[i][j] = min(cost[i][j], cost[i - 2][j - 2] + 1);
        }
    return cost[rows][columns];
}

const char *hw_nearest_word(const char *word, const char *const *list)
{
    const size_t length = strlen(word);
    const char *nearest = NULL;
    /* A third of the characters may be wrong. */
    int least = (int)length / 3 + 1;

    if (length == 0 || length > LENGTH_MAX)
        return NULL;
    for (; *list; list++) {
        if (strlen(*list) > LENGTH_MAX)
            continue;
        int found = distance(word, *list);
        if (length >= 3 &&
            (strncmp(*list, word, length) == 0 || strncmp(*list, word, strlen(*list)) == 0))
            found = min(found, (int)length / 3);
        if (found < least) {
            least = found;
            nearest = *list;
        }
    }
    return nearest;
}
