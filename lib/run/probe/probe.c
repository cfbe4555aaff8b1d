#include "lib/run/probe/probe.h"

#include "lib/base/memory.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static enum hw_status check(const struct hw_stage *stage, const struct hw_traverse_command *command,
                            struct hw_error *err)
{
    if (command->run.input)
        return hw_fail(err, HW_USAGE, "--probe: searches nothing, found '%s'; leave it out",
                       command->run.input);
    if (stage->cli.output)
        return hw_fail(err, HW_USAGE, "--probe: makes no tree file; give --probe=FILE, not -o");
    if (stage->cli.estimate)
        return hw_fail(err, HW_USAGE, "--probe: takes no --estimate");
    return HW_OK;
}

/* The nodes of all ranks, as ctx has them. nodes: [ranks]. Collective. */
static enum hw_status gather_nodes(const struct hw_context *ctx, int *nodes, struct hw_error *err)
{
    return hw_mpi(MPI_Allgather(&ctx->node_id, 1, MPI_INT, nodes, 1, MPI_INT, ctx->world),
                  "MPI_Allgather", err);
}

static void print_figure(FILE *out, char separator, double value, double unit)
{
    if (value < 0)
        fprintf(out, "%c%s", separator, separator == ',' ? "" : "-");
    else
        fprintf(out, "%c%.4g", separator, value / unit);
}

/* separator: a tab, or a comma for CSV. Local. */
static void print_rows(const struct hw_context *ctx, const struct hw_link_row *rows,
                       const int *nodes, char separator, FILE *out)
{
    static const char *const columns[] = {"from",           "to",           "from_node",
                                          "to_node",        "latency_us",   "bandwidth_GB_per_s",
                                          "put_latency_us", "put_GB_per_s", "barrier_us"};
    const double us = 1e-6, gb = 1e9;

    for (size_t c = 0; c < sizeof columns / sizeof *columns; c++)
        fprintf(out, "%.*s%s", c > 0, &separator, columns[c]);
    fputc('\n', out);
    for (int from = 0; from < ctx->size; from++)
        for (int to = 0; to < ctx->size; to++) {
            const struct hw_link_row *row = rows + (size_t)from * (size_t)ctx->size + to;
            if (from == to)
                continue;
            fprintf(out, "%d%c%d%c%d%c%d", from, separator, to, separator, nodes[from], separator,
                    nodes[to]);
            print_figure(out, separator, row->latency, us);
            print_figure(out, separator, row->bandwidth, gb);
            print_figure(out, separator, row->put_latency, us);
            print_figure(out, separator, row->put_bandwidth, gb);
            print_figure(out, separator, row->barrier, us);
            fputc('\n', out);
        }
}

/* Opens the CSV file on rank 0, before anything is measured. Local. */
static enum hw_status open_csv(const struct hw_stage *stage, const char *path, FILE **file,
                               struct hw_error *err)
{
    if (!path || stage->ctx.rank != 0)
        return HW_OK;
    *file = fopen(path, stage->cli.force ? "w" : "wx");
    if (!*file && errno == EEXIST)
        return hw_fail(err, HW_USAGE, "%s: exists already; --force replaces it", path);
    return *file ? HW_OK : hw_fail(err, HW_RESOURCES, "%s: %s", path, strerror(errno));
}

static enum hw_status close_csv(const char *path, FILE *file, enum hw_status status,
                                struct hw_error *err)
{
    if (!file)
        return status;
    const bool failed = ferror(file) != 0;
    if ((fclose(file) != 0 || failed) && status == HW_OK)
        status = hw_fail(err, HW_RESOURCES, "%s: could not be written", path);
    if (status != HW_OK)
        remove(path);
    return status;
}

static enum hw_status open_link(const struct hw_context *ctx, const struct hw_traverse_options *run,
                                hw_device_link_open *open_device, struct hw_link *link,
                                struct hw_error *err)
{
    if (run->device == HW_CPU)
        return hw_link_open_mpi(ctx, link, err);
    return open_device(ctx, run->engine.transport, run->engine.mpi_buffers,
                       (int)run->ranks_per_node, link, err);
}

enum hw_status hw_probe(struct hw_stage *stage, const struct hw_traverse_command *command,
                        hw_device_link_open *open_device, struct hw_error *err)
{
    const struct hw_traverse_options *run = &command->run;
    const struct hw_context *ctx = &stage->ctx;
    struct hw_link link = {0};
    struct hw_link_row *rows = NULL;
    int *nodes = NULL;
    FILE *csv = NULL;
    double barrier = 0;

    HW_TRY(check(stage, command, err));
    hw_context_group(&stage->ctx, run->ranks_per_node);
    enum hw_status status = hw_alloc(&nodes, ctx->size, sizeof *nodes, "nodes", err);
    if (status == HW_OK)
        status = hw_alloc(&rows, (hw_count)ctx->size * ctx->size, sizeof *rows, "pairs", err);
    if (status == HW_OK)
        status = open_csv(stage, command->probe_file, &csv, err);
    status = hw_agree(ctx->world, status, err);
    if (status == HW_OK)
        status = gather_nodes(ctx, nodes, err);
    if (status == HW_OK)
        status = open_link(ctx, run, open_device, &link, err);
    if (status == HW_OK)
        status = hw_link_probe(ctx, &link, rows, &barrier, err);
    if (status == HW_OK && ctx->rank == 0)
        print_rows(ctx, rows, nodes, '\t', stdout);
    if (status == HW_OK && csv)
        print_rows(ctx, rows, nodes, ',', csv);
    status = hw_agree(ctx->world, close_csv(command->probe_file, csv, status, err), err);
    if (status == HW_OK)
        hw_note(ctx, "%d rank%s over %s; a barrier of all takes %.4g us; all that was sent arrived",
                ctx->size, ctx->size == 1 ? "" : "s", link.transport, barrier * 1e6);
    if (link.ops)
        link.ops->close(link.self);
    free(rows);
    free(nodes);
    return status;
}
