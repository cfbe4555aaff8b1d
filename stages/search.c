/* hopwave-search: one search of a graph in any known format, printed as a table or a path. */
#include "lib/run/single/single_search.h"
#include "lib/run/stage.h"

enum {
    KEY_FROM = 0x3000,
    KEY_TO,
    KEY_WEIGHTS,
    KEY_IDS,
    KEY_FORMAT,
    KEY_UNDIRECTED,
    KEY_DIRECTED,
    KEY_VERTICES
};

struct options {
    struct hw_single_request request;
    bool from_given;
};

static enum hw_status take_direction(enum hw_import_direction direction, const char *name,
                                     struct hw_single_request *request, struct hw_error *err)
{
    struct hw_import_options *import = &request->import;

    if (import->direction != HW_DIRECTION_OF_FILE && import->direction != direction)
        return hw_fail(err, HW_USAGE, "--directed and --undirected exclude each other");
    import->direction = direction;
    request->import_option = name;
    return HW_OK;
}

static enum hw_status take(int key, const char *arg, void *pointer, struct hw_error *err)
{
    struct options *options = pointer;
    struct hw_single_request *request = &options->request;
    enum hw_status status;
    int choice = 0;

    switch (key) {
    case ARGP_KEY_ARG:
        if (request->import.path)
            return hw_fail(err, HW_USAGE, "one file at a time; '%s' is a second", arg);
        request->import.path = arg;
        return HW_OK;
    case KEY_FROM:
        options->from_given = true;
        return hw_cli_count("--from", arg, INT64_MIN, INT64_MAX, &request->from, err);
    case KEY_TO:
        request->to_given = true;
        return hw_cli_count("--to", arg, INT64_MIN, INT64_MAX, &request->to, err);
    case KEY_WEIGHTS:
        request->weights = true;
        request->import.weights = HW_TAKE_AUTO;
        return HW_OK;
    case KEY_IDS:
        request->ids = true;
        return HW_OK;
    case KEY_FORMAT:
        status = hw_cli_choice("--format", arg, hw_import_names(), &choice, err);
        request->import.format = (enum hw_import_format)choice;
        request->import_option = "--format";
        return status;
    case KEY_UNDIRECTED:
        return take_direction(HW_UNDIRECTED, "--undirected", request, err);
    case KEY_DIRECTED:
        return take_direction(HW_DIRECTED, "--directed", request, err);
    case KEY_VERTICES:
        request->import_option = "--vertices";
        return hw_cli_count("--vertices", arg, 1, (int64_t)1 << 62, &request->import.vertices, err);
    default:
        return HW_OK;
    }
}

static enum hw_status run(struct hw_stage *stage, void *pointer, struct hw_error *err)
{
    const struct options *options = pointer;
    const struct hw_single_request *request = &options->request;
    struct hw_single_search search = {0};

    if (!request->import.path)
        return hw_fail(err, HW_USAGE, "no file; give FILE, a graph in any format");
    if (!options->from_given)
        return hw_fail(err, HW_USAGE, "no vertex to search from; give --from VERTEX");
    enum hw_status status = hw_single_run(&stage->ctx, request, &search, err);
    if (status == HW_OK)
        status = hw_single_print(&stage->ctx, request, &search, err);
    hw_single_close(&search);
    return status;
}

int main(int argc, char **argv)
{
    static const struct argp_option option_table[] = {
        {"from", KEY_FROM, "VERTEX", 0, "Search from this vertex; required", 0},
        {"to", KEY_TO, "VERTEX", 0, "Print a shortest path to this vertex alone", 0},
        {"weights", KEY_WEIGHTS, 0, 0,
         "Shortest paths by the weights of the file (default: paths of the fewest edges)", 0},
        {"ids", KEY_IDS, 0, 0,
         "Vertices are ids from 0, as Hopwave numbers them (default: the file's own names)", 0},
        {"format", KEY_FORMAT, "auto|edges|mtx|gr|metis|sg|wsg|packed|ldbc", 0,
         "The format of the file (default: auto, by its content), as hopwave-import takes it", 0},
        {"undirected", KEY_UNDIRECTED, 0, 0, "Edges can be walked both ways", 0},
        {"directed", KEY_DIRECTED, 0, 0, "Edges lead from the first vertex to the second", 0},
        {"vertices", KEY_VERTICES, "N", 0, "Of an edge list: ids are 0..N-1", 0},
        {0}};
    struct options options = {.request.import.weights = HW_TAKE_NONE};
    const struct hw_cli_program program = {
        .name = "hopwave-search",
        .arguments = "FILE",
        .doc = "Searches a graph from one vertex and prints what is reached, or a path. FILE is a "
               "graph file or one that hopwave-import reads; everything happens in memory.",
        .options = option_table,
        .take = take};

    return hw_stage_main(argc, argv, &program, &options, run);
}
