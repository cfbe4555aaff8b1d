#include "lib/base/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

/* Arrays of so many bytes ask for huge pages: searches read them at random, and with
 * small pages the page-table walk dominates such a read. */
#define HUGE_PAGE ((size_t)2 << 20)
#define LARGE (2 * HUGE_PAGE)

enum hw_status hw_alloc(void *out, hw_count count, size_t size, const char *what,
                        struct hw_error *err)
{
    void *memory = NULL;
    size_t bytes = 0;

    memcpy(out, &memory, sizeof memory);
    if (count < 0 || __builtin_mul_overflow((size_t)count, size, &bytes) || bytes > PTRDIFF_MAX)
        return hw_fail(err, HW_RESOURCES, "%s: %" PRI_COUNT " elements of %zu bytes overflow", what,
                       count, size);
    if (bytes == 0)
        return HW_OK;
    if (posix_memalign(&memory, bytes < LARGE ? 64 : HUGE_PAGE, bytes) != 0)
        return hw_fail(err, HW_RESOURCES, "%s: no memory for %zu bytes", what, bytes);
    /* Only a hint: without huge pages, small ones are used. */
    if (bytes >= LARGE)
        (void)madvise(memory, bytes, MADV_HUGEPAGE);
    memcpy(out, &memory, sizeof memory);
    return HW_OK;
}

enum hw_status hw_alloc_zero(void *out, hw_count count, size_t size, const char *what,
                             struct hw_error *err)
{
    enum hw_status status = hw_alloc(out, count, size, what, err);
    void *memory;

    memcpy(&memory, out, sizeof memory);
    if (status == HW_OK && memory)
        memset(memory, 0, (size_t)count * size);
    return status;
}

static hw_count min(hw_count a, hw_count b)
{
    return a < b ? a : b;
}

/* The whole number that a one-line file holds; missing or "max" is no limit. */
static hw_count number_in(const char *path)
{
    long long value = -1;
    FILE *file = fopen(path, "re");

    if (!file)
        return INT64_MAX;
    int got = fscanf(file, "%lld", &value);
    fclose(file);
    return got == 1 && value >= 0 ? value : INT64_MAX;
}

/* The value in bytes of a "Name: 123 kB" line. */
static hw_count kilobytes_in(const char *path, const char *name)
{
    char line[256];
    hw_count bytes = INT64_MAX;
    FILE *file = fopen(path, "re");

    if (!file)
        return bytes;
    while (fgets(line, sizeof line, file)) {
        long long kilobytes;
        size_t n = strlen(name);
        if (strncmp(line, name, n) == 0 && sscanf(line + n, " %lld", &kilobytes) == 1)
            bytes = (hw_count)kilobytes * 1024;
    }
    fclose(file);
    return bytes;
}

/* The bytes of page cache that a cgroup would give back under pressure. */
static hw_count reclaimable(const char *folder)
{
    char path[4096 + 32], name[64];
    long long value;
    hw_count bytes = 0;

    snprintf(path, sizeof path, "%s/memory.stat", folder);
    FILE *file = fopen(path, "re");
    if (!file)
        return 0;
    while (fscanf(file, "%63s %lld", name, &value) == 2)
        if (strcmp(name, "inactive_file") == 0 || strcmp(name, "total_inactive_file") == 0)
            bytes = bytes > value ? bytes : value;
    fclose(file);
    return bytes;
}

/* What one cgroup folder leaves, given the names of its two files. */
static hw_count cgroup_leaves(const char *folder, const char *limit_name, const char *used_name)
{
    char path[4096 + 64];

    snprintf(path, sizeof path, "%s/%s", folder, limit_name);
    hw_count limit = number_in(path);
    snprintf(path, sizeof path, "%s/%s", folder, used_name);
    hw_count used = number_in(path);
    if (limit == INT64_MAX || used == INT64_MAX)
        return INT64_MAX;
    used -= min(used, reclaimable(folder));
    return limit > used ? limit - used : 0;
}

/* The minimum that the cgroup at root/path and its ancestors leave. */
static hw_count cgroup_chain(const char *root, char *path, const char *limit_name,
                             const char *used_name)
{
    char folder[4096];
    hw_count leaves = INT64_MAX;

    for (;;) {
        snprintf(folder, sizeof folder, "%s%s", root, path);
        leaves = min(leaves, cgroup_leaves(folder, limit_name, used_name));
        char *slash = strrchr(path, '/');
        if (!slash || path[0] == '\0')
            return leaves;
        *slash = '\0';
    }
}

static hw_count cgroups_leave(void)
{
    char line[2048];
    hw_count leaves = INT64_MAX;
    FILE *file = fopen("/proc/self/cgroup", "re");

    if (!file)
        return leaves;
    while (fgets(line, sizeof line, file)) {
        line[strcspn(line, "\n")] = '\0';
        char *controllers = strchr(line, ':');
        char *path = controllers ? strchr(controllers + 1, ':') : NULL;
        if (!path)
            continue;
        *path++ = '\0';
        if (controllers[1] == '\0')
            leaves =
                min(leaves, cgroup_chain("/sys/fs/cgroup", path, "memory.max", "memory.current"));
        else if (strcmp(controllers + 1, "memory") == 0)
            leaves = min(leaves, cgroup_chain("/sys/fs/cgroup/memory", path,
                                              "memory.limit_in_bytes", "memory.usage_in_bytes"));
    }
    fclose(file);
    return leaves;
}

/* What one resource limit leaves, given what the process has of it now. */
static hw_count rlimit_leaves(int resource, const char *status_name)
{
    struct rlimit limit;

    if (getrlimit(resource, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
        return INT64_MAX;
    hw_count used = kilobytes_in("/proc/self/status", status_name);
    hw_count max = limit.rlim_cur > INT64_MAX ? INT64_MAX : (hw_count)limit.rlim_cur;
    if (used == INT64_MAX)
        return max;
    return max > used ? max - used : 0;
}

/* A whole number, and perhaps K, M or G after it. */
static bool read_bytes(const char *text, hw_count *bytes)
{
    char *end = NULL;

    if (*text < '0' || *text > '9')
        return false;
    const long long value = strtoll(text, &end, 10);
    const int shift = *end == 'K' ? 10 : *end == 'M' ? 20 : *end == 'G' ? 30 : 0;
    *bytes = value > INT64_MAX >> shift ? INT64_MAX : (hw_count)value << shift;
    return end[shift > 0] == '\0';
}

hw_count hw_memory_setting(const char *name)
{
    const char *text = getenv(name);
    hw_count bytes = INT64_MAX;

    return text && read_bytes(text, &bytes) ? bytes : INT64_MAX;
}

enum hw_status hw_memory_settings_check(struct hw_error *err)
{
    const char *const names[] = {"HOPWAVE_MEMORY", "HOPWAVE_DEVICE_MEMORY"};
    hw_count bytes;

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *text = getenv(names[i]);
        if (text && *text && !read_bytes(text, &bytes))
            return hw_fail(err, HW_USAGE, "%s: '%s' is not a number of bytes such as 800M or 64G",
                           names[i], text);
    }
    return HW_OK;
}

hw_count hw_memory_available(void)
{
    hw_count available = kilobytes_in("/proc/meminfo", "MemAvailable:");

    available = min(available, cgroups_leave());
    available = min(available, rlimit_leaves(RLIMIT_AS, "VmSize:"));
    available = min(available, rlimit_leaves(RLIMIT_DATA, "VmData:"));
    return min(available, hw_memory_setting("HOPWAVE_MEMORY"));
}

hw_count hw_memory_peak(void)
{
    struct rusage usage;

    if (getrusage(RUSAGE_SELF, &usage) != 0)
        return 0;
    return (hw_count)usage.ru_maxrss * 1024;
}
