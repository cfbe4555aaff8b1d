/*
 * Which files an import reads: the one that was named; of an LDBC graph its edges and its vertices;
 * of an archive the one graph that is in it.
 *
 * In an archive a graph is a file that some format recognizes. What collections add to it is
 * left out: NAME/NAME_*.* next to NAME/NAME.mtx (SuiteSparse), NAME-* and NAME.properties next to
 * NAME.v and NAME.e (LDBC), meta.NAME and ent.* (KONECT), README, LICENSE and the like.
 */
#include "lib/base/memory.h"
#include "lib/graph/import/formats/ldbc.h"
#include "lib/graph/import/import_steps.h"
#include "lib/graph/import/input/tar_archive.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

static bool has_suffix(const char *path, const char *suffix)
{
    const size_t length = strlen(path), tail = strlen(suffix);

    return length > tail && strcmp(path + length - tail, suffix) == 0;
}

/* Replaces *out by a text that printf makes of two. */
static enum hw_status join(char **out, const char *first, int length, const char *second,
                           struct hw_error *err)
{
    char *text = NULL;

    if (asprintf(&text, "%.*s%s", length, first, second) < 0)
        return hw_fail(err, HW_RESOURCES, "no memory for a path");
    free(*out);
    *out = text;
    return HW_OK;
}

/* ---- LDBC, as files ---- */

/* Reads NAME.properties. Local. */
static enum hw_status read_properties(const char *path, struct hw_ldbc *ldbc, struct hw_error *err)
{
    struct hw_input input;
    char *text = NULL;

    enum hw_status status = hw_input_open(path, &input, err);
    if (status == HW_OK && input.size > HW_LDBC_PROPERTIES_MAX)
        status =
            hw_fail(err, HW_BAD_INPUT, "%s: has more than %d bytes", path, HW_LDBC_PROPERTIES_MAX);
    if (status == HW_OK)
        status = hw_alloc_zero(&text, input.size + HW_MEMBER_PAD, 1, "properties", err);
    if (status == HW_OK)
        status = hw_input_read_all(&input, 0, text, input.size, err);
    if (status == HW_OK)
        status = hw_ldbc_parse(path, text, input.size, ldbc, err);
    free(text);
    hw_input_close(&input);
    return status;
}

/* The files of a graph whose properties were read, which may call them otherwise. */
static enum hw_status name_files(struct hw_import *import, const char *stem, int length,
                                 struct hw_error *err)
{
    const struct hw_ldbc *ldbc = &import->ldbc;
    const char *slash = memrchr(stem, '/', (size_t)length);
    const int folder = slash ? (int)(slash + 1 - stem) : 0;

    HW_TRY(*ldbc->edge_file ? join(&import->edges_path, stem, folder, ldbc->edge_file, err)
                            : join(&import->edges_path, stem, length, ".e", err));
    return *ldbc->vertex_file ? join(&import->vertices_path, stem, folder, ldbc->vertex_file, err)
                              : join(&import->vertices_path, stem, length, ".v", err);
}

enum hw_status hw_import_locate(struct hw_import *import, struct hw_error *err)
{
    static const char *const suffixes[] = {".properties", ".e", ".v"};
    const char *path = import->options.path;
    const bool asked = import->options.format == HW_IMPORT_LDBC;
    char *properties = NULL;
    int length = -1;

    import->ldbc = (struct hw_ldbc){.vertices = -1, .edges = -1};
    HW_TRY(join(&import->edges_path, path, (int)strlen(path), "", err));
    if (import->options.format != HW_IMPORT_AUTO && !asked)
        return HW_OK;
    for (size_t i = 0; i < 3 && length < 0; i++)
        if (has_suffix(path, suffixes[i]))
            length = (int)(strlen(path) - strlen(suffixes[i]));
    if (length < 0)
        return HW_OK;
    HW_TRY(join(&import->vertices_path, path, length, ".v", err));
    HW_TRY(join(&import->edges_path, path, length, ".e", err));
    HW_TRY(join(&properties, path, length, ".properties", err));
    const bool pair =
        access(import->vertices_path, F_OK) == 0 && access(import->edges_path, F_OK) == 0;
    const bool described = access(properties, F_OK) == 0;
    enum hw_status status = HW_OK;
    if (!asked && !pair && !(described && has_suffix(path, ".properties"))) {
        /* A file of another format that is named so. */
        free(import->vertices_path);
        import->vertices_path = NULL;
        status = join(&import->edges_path, path, (int)strlen(path), "", err);
    } else {
        import->options.format = HW_IMPORT_LDBC;
        if (described)
            status = read_properties(properties, &import->ldbc, err);
        if (status == HW_OK)
            status = name_files(import, path, length, err);
    }
    free(properties);
    return status;
}

enum hw_status hw_import_open_files(struct hw_import *import, struct hw_error *err)
{
    HW_TRY(hw_input_open(import->edges_path, &import->input, err));
    HW_TRY(hw_input_unpack(&import->input, err));
    if (!import->vertices_path)
        return HW_OK;
    HW_TRY(hw_input_open(import->vertices_path, &import->vertices, err));
    return hw_input_unpack(&import->vertices, err);
}

void hw_import_close_files(struct hw_import *import)
{
    hw_input_close(&import->input);
    hw_input_close(&import->vertices);
    free(import->edges_path);
    free(import->vertices_path);
}

/* ---- archives ---- */

/* The name of a file without its folders. */
static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

/* Whether `path` is `stem`, of so many bytes, and then one of some characters. */
static bool continues(const char *path, const char *stem, size_t length, const char *characters)
{
    return strncmp(path, stem, length) == 0 && path[length] && strchr(characters, path[length]);
}

/* Names of what is no graph, wherever it lies. */
static bool is_text_for_readers(const char *name)
{
    static const char *const prefixes[] = {".",      "README",   "LICENSE", "LICENCE", "COPYING",
                                           "NOTICE", "CITATION", "meta.",   "ent."};

    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
        if (strncasecmp(name, prefixes[i], strlen(prefixes[i])) == 0)
            return true;
    return false;
}

/* Whether a member is DIR/DIR.mtx, or DIR.mtx alone; bytes of its stem, 0 if not. */
static size_t matrix_stem(const char *path)
{
    const char *name = base_name(path);
    const size_t stem = strlen(path) - strlen(".mtx"), folder = (size_t)(name - path);

    if (!has_suffix(path, ".mtx") || folder == 0)
        return 0;
    const size_t length = stem - folder;
    return folder >= length + 1 && strncmp(name - 1 - length, name, length) == 0 &&
                   (folder == length + 1 || name[-2 - (ptrdiff_t)length] == '/')
               ? stem
               : 0;
}

static const struct hw_member *find_member(const struct hw_members *members, const char *path,
                                           size_t length, const char *suffix)
{
    for (hw_count i = 0; i < members->count; i++) {
        const char *other = members->member[i].path;
        if (strlen(other) == length + strlen(suffix) && strncmp(other, path, length) == 0 &&
            strcmp(other + length, suffix) == 0)
            return &members->member[i];
    }
    return NULL;
}

/* Whether a member lists the edges of an LDBC graph whose vertices are there, too. */
static bool has_vertices(const struct hw_members *members, const char *path)
{
    return has_suffix(path, ".e") &&
           find_member(members, path, strlen(path) - strlen(".e"), ".v") != NULL;
}

/* Whether a member belongs to the graph of another one and is none itself. */
static bool is_beside(const struct hw_members *members, const char *path)
{
    if (is_text_for_readers(base_name(path)))
        return true;
    for (hw_count i = 0; i < members->count; i++) {
        const char *other = members->member[i].path;
        const size_t matrix = matrix_stem(other), pair = strlen(other) - strlen(".e");
        if (strcmp(path, other) == 0)
            continue;
        if (matrix > 0 && continues(path, other, matrix, "_"))
            return true;
        if (has_vertices(members, other) && continues(path, other, pair, ".-"))
            return true;
    }
    return false;
}

/* Whether a format takes a member as its own: the one that was asked for, or any. LDBC's is known
 * by names alone. */
static bool is_graph(const struct hw_import *import, const struct hw_members *members,
                     const struct hw_member *member)
{
    struct hw_input input = {.path = member->path, .fd = -1, .stream = true, .size = -1};
    const struct hw_head head = {.input = &input,
                                 .bytes = member->head,
                                 .size = member->head_size,
                                 .whole = member->head_size == member->size};
    enum hw_import_format format = import->options.format;

    if (format == HW_IMPORT_LDBC)
        return has_vertices(members, member->path);
    return hw_import_surest(&head, &format) > 0;
}

/* The one graph of the archive. */
static enum hw_status choose(const struct hw_import *import, const struct hw_members *members,
                             const struct hw_member **chosen, struct hw_error *err)
{
    const char *archive = import->input.path;
    const struct hw_member *only = NULL;
    hw_count others = 0;

    *chosen = NULL;
    for (hw_count i = 0; i < members->count; i++) {
        const struct hw_member *member = &members->member[i];
        if (is_beside(members, member->path))
            continue;
        others++;
        only = member;
        if (!is_graph(import, members, member))
            continue;
        if (*chosen)
            return hw_fail(err, HW_BAD_INPUT,
                           "%s: holds several graphs, '%s' and '%s' among them; unpack it and "
                           "import one of them",
                           archive, (*chosen)->path, member->path);
        *chosen = member;
    }
    if (!*chosen && import->options.format == HW_IMPORT_LDBC)
        return hw_fail(err, HW_BAD_INPUT,
                       "%s: holds no graph of LDBC: no NAME.e that has its NAME.v", archive);
    if (!*chosen && others == 1 && import->options.format != HW_IMPORT_AUTO)
        *chosen = only;
    if (!*chosen)
        return hw_fail(err, HW_BAD_INPUT, "%s: holds no graph in a format that Hopwave recognizes",
                       archive);
    return HW_OK;
}

/* The vertices and the properties of the edges that were chosen, if they are a graph of LDBC. */
static enum hw_status enter_pair(struct hw_import *import, const struct hw_members *members,
                                 const struct hw_member *edges, struct hw_error *err)
{
    const char *archive = import->options.path;
    const size_t length = strlen(edges->path) - strlen(".e");
    const enum hw_import_format format = import->options.format;
    char *title = NULL;

    if (!has_vertices(members, edges->path) ||
        (format != HW_IMPORT_AUTO && format != HW_IMPORT_LDBC))
        return HW_OK;
    const struct hw_member *vertices = find_member(members, edges->path, length, ".v");
    const struct hw_member *properties = find_member(members, edges->path, length, ".properties");
    import->options.format = HW_IMPORT_LDBC;
    HW_TRY(join(&title, archive, (int)strlen(archive), ": ", err));
    enum hw_status status = HW_OK;
    if (properties && properties->head_size < properties->size)
        status = hw_fail(err, HW_BAD_INPUT, "%s%s: has more than %d bytes", title, properties->path,
                         HW_MEMBER_HEAD);
    if (status == HW_OK && properties)
        status =
            hw_ldbc_parse(archive, properties->head, properties->head_size, &import->ldbc, err);
    if (status == HW_OK)
        status = join(&import->vertices_path, title, (int)strlen(title), vertices->path, err);
    free(title);
    /* A second stream through the archive. */
    if (status == HW_OK)
        status = hw_input_open(archive, &import->vertices, err);
    if (status == HW_OK)
        status = hw_input_unpack(&import->vertices, err);
    return status == HW_OK
               ? hw_archive_enter(&import->vertices, vertices, import->vertices_path, err)
               : status;
}

enum hw_status hw_import_enter_archive(struct hw_import *import, struct hw_error *err)
{
    const char *archive = import->options.path;
    const struct hw_member *chosen = NULL;
    struct hw_members members;
    char *title = NULL;

    enum hw_status status = hw_archive_list(&import->input, &members, err);
    if (status == HW_OK)
        status = choose(import, &members, &chosen, err);
    if (status == HW_OK)
        status = enter_pair(import, &members, chosen, err);
    if (status == HW_OK)
        status = join(&title, archive, (int)strlen(archive), ": ", err);
    if (status == HW_OK)
        status = join(&import->edges_path, title, (int)strlen(title), chosen->path, err);
    if (status == HW_OK)
        status = hw_archive_enter(&import->input, chosen, import->edges_path, err);
    free(title);
    hw_members_free(&members);
    return status;
}
