/*
 * Any bytes as a list of roots: as the text of --root-list, and as a file of one a line. What is
 * taken and printed again must be taken as the same.
 */
#include "tests/fuzz/fuzz.h"

/* For the function that reads a file on rank 0 alone. */
#include "lib/run/roots.c"

#include <sys/mman.h>

/* The roots as a text with a character after each but the last one. */
static char *printed(const struct hw_roots *roots, char between)
{
    char *text = hw_fuzz_room((size_t)roots->count * 22 + 1), *at = text;

    for (hw_count i = 0; i < roots->count; i++)
        at += sprintf(at, "%" PRI_GID "%c", roots->id[i], between);
    if (at > text)
        at[-1] = '\0';
    return text;
}

static void demand_same(const struct hw_roots *one, const struct hw_roots *other)
{
    hw_fuzz_demand(one->count == other->count &&
                       memcmp(one->id, other->id, (size_t)one->count * sizeof *one->id) == 0,
                   "roots that differ once they are printed and read again");
}

static void fuzz_text(const char *text)
{
    struct hw_roots roots = {0}, again = {0};
    struct hw_error err = {{0}};

    if (hw_roots_parse(text, &roots, &err) != HW_OK) {
        hw_fuzz_demand(roots.count == 0 && err.text[0], "refused, with roots or without a reason");
        return;
    }
    char *same = printed(&roots, ',');
    hw_fuzz_demand(hw_roots_parse(same, &again, &err) == HW_OK, "refused when printed again");
    demand_same(&roots, &again);
    free(same);
    hw_roots_free(&roots);
    hw_roots_free(&again);
}

/* Reads bytes as a file of roots. */
static enum hw_status read_bytes(const void *data, size_t size, struct hw_roots *roots)
{
    struct hw_error err = {{0}};
    char path[64];
    const int fd = memfd_create("roots", MFD_CLOEXEC);

    hw_fuzz_demand(fd >= 0 && write(fd, data, size) == (ssize_t)size, "no file in memory");
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    const enum hw_status status = read_file(path, roots, &err);
    close(fd);
    hw_fuzz_demand((status == HW_OK) == (err.text[0] == '\0'), "a status without its reason");
    hw_fuzz_demand(status == HW_OK || status == HW_BAD_INPUT, "another status than bad input");
    return status;
}

static void fuzz_file(const uint8_t *data, size_t size)
{
    struct hw_roots roots = {0}, again = {0};

    if (read_bytes(data, size, &roots) == HW_OK) {
        char *same = printed(&roots, '\n');
        hw_fuzz_demand(read_bytes(same, strlen(same), &again) == HW_OK,
                       "refused when printed again");
        demand_same(&roots, &again);
        free(same);
    }
    hw_roots_free(&roots);
    hw_roots_free(&again);
}

void hw_fuzz_roots(const uint8_t *data, size_t size)
{
    char *text = hw_fuzz_room(size + 1);

    if (size > 0)
        memcpy(text, data, size);
    text[size] = '\0';
    fuzz_text(text);
    fuzz_file(data, size);
    free(text);
}
