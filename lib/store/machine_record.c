/*
 * The attributes of /run that describe the machine of rank 0, from /proc and /sys of Linux:
 * processor, sockets, cores, memory, GPUs, network, and the compiler of the program. What cannot be
 * read is left out.
 */
#include "lib/store/store_internal.h"

#include "config.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#if defined(__clang__)
#define COMPILER "Clang " __clang_version__
#elif defined(__GNUC__)
#define COMPILER "GCC " __VERSION__
#else
#define COMPILER "unknown"
#endif

enum { LINE_SIZE = 512, TEXT_SIZE = 1024, KINDS = 8 };

/* The words after the colon of a line that begins with `key`, or NULL. Cuts the line's end. */
static const char *value_of(char *line, const char *key)
{
    if (strncmp(line, key, strlen(key)) != 0)
        return NULL;
    char *colon = strchr(line, ':');
    if (!colon)
        return NULL;
    colon++;
    colon += strspn(colon, " \t");
    colon[strcspn(colon, "\n")] = '\0';
    return colon;
}

/* The processor's name and the number of sockets; "" and 0 where /proc/cpuinfo says neither. */
static void read_processor(char *name, size_t size, int64_t *sockets)
{
    char line[LINE_SIZE];
    unsigned char seen[256] = {0};
    FILE *file = fopen("/proc/cpuinfo", "r");

    name[0] = '\0';
    *sockets = 0;
    if (!file)
        return;
    while (fgets(line, sizeof line, file)) {
        const char *value = value_of(line, "model name");
        if (value && !name[0])
            snprintf(name, size, "%s", value);
        value = value_of(line, "physical id");
        const long id = value ? strtol(value, NULL, 10) : -1;
        if (id >= 0 && id < (long)sizeof seen && !seen[id]) {
            seen[id] = 1;
            ++*sockets;
        }
    }
    fclose(file);
}

/* Reads the first line of DIR/ENTRY/FILE, without its end. Returns whether there is one. */
static bool read_line(const char *dir, const char *entry, const char *file, char *line, size_t size)
{
    char path[LINE_SIZE];

    if (snprintf(path, sizeof path, "%s/%s/%s", dir, entry, file) >= (int)sizeof path)
        return false;
    FILE *in = fopen(path, "r");
    if (!in)
        return false;
    const bool got = fgets(line, (int)size, in) != NULL;
    fclose(in);
    if (got)
        line[strcspn(line, "\n")] = '\0';
    return got && line[0];
}

/* How often each of a few names occurs. */
struct tally {
    char name[KINDS][128];
    int count[KINDS];
    int kinds;
};

static void count_name(struct tally *tally, const char *name)
{
    int k = 0;

    while (k < tally->kinds && strcmp(tally->name[k], name) != 0)
        k++;
    if (k == KINDS)
        return;
    if (k == tally->kinds) {
        snprintf(tally->name[k], sizeof tally->name[k], "%s", name);
        tally->kinds++;
    }
    tally->count[k]++;
}

/* "4 x NAME, OTHER" */
static void write_tally(const struct tally *tally, char *text, size_t size)
{
    size_t used = 0;

    text[0] = '\0';
    for (int k = 0; k < tally->kinds && used < size; k++) {
        char times[16] = "";
        if (tally->count[k] > 1)
            snprintf(times, sizeof times, "%d x ", tally->count[k]);
        used += (size_t)snprintf(text + used, size - used, "%s%s%s", used ? ", " : "", times,
                                 tally->name[k]);
    }
}

/* Calls visit for the entries of a folder. */
static void each_entry(const char *dir, void (*visit)(const char *, struct tally *),
                       struct tally *tally)
{
    DIR *folder = opendir(dir);

    if (!folder)
        return;
    for (const struct dirent *entry; (entry = readdir(folder));)
        if (entry->d_name[0] != '.')
            visit(entry->d_name, tally);
    closedir(folder);
}

/* A GPU, from what NVIDIA's driver has in /proc. */
static void visit_gpu(const char *entry, struct tally *tally)
{
    char line[LINE_SIZE];

    if (!read_line("/proc/driver/nvidia/gpus", entry, "information", line, sizeof line))
        return;
    const char *name = value_of(line, "Model");
    if (name)
        count_name(tally, name);
}

/* An adapter of InfiniBand or RoCE with the rate of its first port. */
static void visit_adapter(const char *entry, struct tally *tally)
{
    char rate[64], name[128];

    if (!read_line("/sys/class/infiniband", entry, "ports/1/rate", rate, sizeof rate))
        snprintf(rate, sizeof rate, "rate unknown");
    snprintf(name, sizeof name, "InfiniBand %.60s", rate);
    count_name(tally, name);
}

/* A network interface that is up, with its speed in Mb/s where it has one. */
static void visit_interface(const char *entry, struct tally *tally)
{
    char state[32], speed[32], name[128];

    if (strcmp(entry, "lo") == 0 ||
        !read_line("/sys/class/net", entry, "operstate", state, sizeof state) ||
        strcmp(state, "up") != 0)
        return;
    const bool known = read_line("/sys/class/net", entry, "speed", speed, sizeof speed);
    const long rate = known ? strtol(speed, NULL, 10) : -1;
    if (rate >= 1000)
        snprintf(name, sizeof name, "Ethernet %g Gb/s", (double)rate / 1000);
    else
        snprintf(name, sizeof name, "Ethernet");
    count_name(tally, name);
}

/* Sets a text unless it is empty. Local. */
static enum hw_status set_text(struct hw_store *store, const char *name, const char *text,
                               struct hw_error *err)
{
    return text[0] ? hw_store_set_string(store, HW_AT_RUN, name, text, err) : HW_OK;
}

/* Sets a number unless it is not known. Local. */
static enum hw_status set_number(struct hw_store *store, const char *name, int64_t value,
                                 struct hw_error *err)
{
    return value > 0 ? hw_store_set_i64(store, HW_AT_RUN, name, value, err) : HW_OK;
}

/* What is known of a machine; "" and 0 stand for what is not. */
struct machine {
    char processor[LINE_SIZE], gpus[TEXT_SIZE], network[TEXT_SIZE];
    int64_t sockets, cores, memory;
};

/* Reads the description of this machine. Local. */
static void read_machine(struct machine *machine)
{
    const int64_t pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    struct tally gpus = {.kinds = 0}, links = {.kinds = 0};

    read_processor(machine->processor, sizeof machine->processor, &machine->sockets);
    machine->cores = sysconf(_SC_NPROCESSORS_ONLN);
    machine->memory = pages > 0 && page > 0 ? pages * page : 0;
    each_entry("/proc/driver/nvidia/gpus", visit_gpu, &gpus);
    write_tally(&gpus, machine->gpus, sizeof machine->gpus);
    each_entry("/sys/class/infiniband", visit_adapter, &links);
    if (links.kinds == 0)
        each_entry("/sys/class/net", visit_interface, &links);
    write_tally(&links, machine->network, sizeof machine->network);
}

enum hw_status hw_store_set_machine(struct hw_store *store, struct hw_error *err)
{
    const struct hw_context *ctx = &store->ctx;
    struct machine machine = {.sockets = 0};

    if (ctx->rank == 0)
        read_machine(&machine);
    HW_TRY(hw_mpi(MPI_Bcast(&machine, (int)sizeof machine, MPI_BYTE, 0, ctx->world), "MPI_Bcast",
                  err));
    HW_TRY(set_text(store, "processor", machine.processor, err));
    HW_TRY(set_number(store, "sockets", machine.sockets, err));
    HW_TRY(set_number(store, "cores", machine.cores, err));
    HW_TRY(set_number(store, "memory", machine.memory, err));
    HW_TRY(set_text(store, "gpus", machine.gpus, err));
    HW_TRY(set_text(store, "network", machine.network, err));
    return set_text(store, "compiler", COMPILER, err);
}
