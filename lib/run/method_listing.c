#include "lib/run/method_listing.h"

#include "lib/engine/core/method.h"

#include <inttypes.h>
#include <string.h>

#define METHODS_MAX 64

/* The name of a layout bit. */
static const struct {
    unsigned bit;
    const char *name;
} layouts[] = {{HW_ON_1D, "1d"}, {HW_ON_2D, "2d"}, {HW_ON_DEGREE_SEPARATED, "degree-separated"}};
#define LAYOUTS (sizeof layouts / sizeof layouts[0])

/* ---- parts of several formats ---- */

/* "1d, 2d of one row, several parts". */
static void describe_place(const struct hw_method_descriptor *method, char *text, size_t size)
{
    size_t used = 0;

    text[0] = '\0';
    for (size_t k = 0; k < LAYOUTS && used < size; k++)
        if (method->layouts & layouts[k].bit)
            used += (size_t)snprintf(
                text + used, size - used, "%s%s%s", used ? ", " : "", layouts[k].name,
                layouts[k].bit == HW_ON_2D && method->one_row_only ? " of one row" : "");
    if (method->parts != HW_PARTS_ANY && used < size)
        snprintf(text + used, size - used, ", %s",
                 method->parts == HW_PARTS_ONE ? "one part" : "several parts");
}

/* Whether an earlier descriptor has the same name. */
static bool is_repeated(const struct hw_method_descriptor *const *m)
{
    for (const struct hw_method_descriptor *const *e = hw_method_descriptors(); e != m; e++)
        if (strcmp((*e)->name, (*m)->name) == 0)
            return true;
    return false;
}

/* "delta, near-far": names of the methods with an option, each once. */
static void list_names(const struct hw_option *option, char *text, size_t size)
{
    const char *names[METHODS_MAX];
    int count = 0;
    size_t used = 0;

    text[0] = '\0';
    for (const struct hw_method_descriptor *const *m = hw_method_descriptors(); *m; m++) {
        bool known = !hw_method_has(*m, option);
        for (int n = 0; n < count && !known; n++)
            known = strcmp(names[n], (*m)->name) == 0;
        if (!known && count < METHODS_MAX)
            names[count++] = (*m)->name;
    }
    for (int n = 0; n < count && used < size; n++)
        used += (size_t)snprintf(text + used, size - used, "%s%s", n ? ", " : "", names[n]);
}

/* "1 to 8", "above 0, at most 1"; empty where no range is given. */
static void describe_range(const struct hw_option *option, char *text, size_t size)
{
    text[0] = '\0';
    if (option->type == HW_OPTION_COUNT || option->type == HW_OPTION_RANGE)
        snprintf(text, size, "%s%" PRId64 " to %" PRId64,
                 option->powers_of_two ? "powers of two from " : "", option->min, option->max);
    else if (option->type == HW_OPTION_REAL && option->real_max > 0)
        snprintf(text, size, "above 0, at most %g", option->real_max);
    else if (option->type == HW_OPTION_REAL)
        snprintf(text, size, "above 0");
}

/* "--alpha=0.1 --hub-order=off": what --as-published sets, each option between `quote`s. */
static void print_published(const struct hw_published_option *published, const char *quote,
                            FILE *out)
{
    for (const struct hw_published_option *p = published; p && p->option; p++)
        fprintf(out, "%s%s--%s%s%s%s", p == published ? "" : " ", quote, p->option->name,
                p->value ? "=" : "", p->value ? p->value : "", quote);
}

/* "list, bitmap, auto"; empty for options without words. */
static void describe_words(const struct hw_option *option, char *text, size_t size)
{
    size_t used = 0;

    text[0] = '\0';
    for (int w = 0; option->words && option->words[w] && used < size; w++)
        used += (size_t)snprintf(text + used, size - used, "%s%s", w ? ", " : "", option->words[w]);
}

void hw_method_option_doc(const struct hw_option *option, char *text, size_t size)
{
    char names[256], range[64], value[HW_OPTION_TEXT];

    list_names(option, names, sizeof names);
    describe_range(option, range, sizeof range);
    if (option->type == HW_OPTION_FLAG)
        snprintf(text, size, "%s: %s", names, option->help);
    else
        snprintf(text, size, "%s: %s%s%s (default: %s)", names, option->help, range[0] ? "; " : "",
                 range, hw_option_default_text(option, value));
}

/* ---- JSON ---- */

/* "key": "text", with a comma and a line before it. */
static void print_member(const char *key, const char *text, FILE *out)
{
    fprintf(out, ",\n      \"%s\": ", key);
    if (text)
        hw_print_json_text(text, out);
    else
        fprintf(out, "null");
}

static void print_words(const char *key, const char *const *words, FILE *out)
{
    fprintf(out, ",\n      \"%s\": [", key);
    for (int w = 0; words && words[w]; w++) {
        fprintf(out, "%s", w ? ", " : "");
        hw_print_json_text(words[w], out);
    }
    fprintf(out, "]");
}

/* "as_published": {"alpha": "0.1"}: what --as-published sets. */
static void print_json_published(const struct hw_published_option *published, FILE *out)
{
    fprintf(out, ",\n      \"as_published\": {");
    for (const struct hw_published_option *p = published; p && p->option; p++) {
        fprintf(out, "%s", p == published ? "" : ", ");
        hw_print_json_text(p->option->name, out);
        fprintf(out, ": ");
        if (p->value)
            hw_print_json_text(p->value, out);
        else
            fprintf(out, "true");
    }
    fprintf(out, "}");
}

static void print_json_method(const struct hw_method_descriptor *method, FILE *out)
{
    static const char *const rules[] = {"any", "one", "several"};
    const char *names[LAYOUTS + 1] = {NULL}, *options[HW_OPTIONS_MAX + 1] = {NULL};
    size_t count = 0;

    for (size_t k = 0; k < LAYOUTS; k++)
        if (method->layouts & layouts[k].bit)
            names[count++] = layouts[k].name;
    for (size_t o = 0; method->options && method->options[o]; o++)
        options[o] = method->options[o]->name;
    fprintf(out, "    {\n      \"name\": ");
    hw_print_json_text(method->name, out);
    print_member("summary", method->summary, out);
    print_member("citation", method->citation, out);
    print_member("algorithm", hw_algorithm_words[method->algorithm], out);
    print_member("device", hw_device_words[method->device], out);
    print_words("layouts", names, out);
    print_member("parts", rules[method->parts], out);
    fprintf(out, ",\n      \"one_row_only\": %s", method->one_row_only ? "true" : "false");
    fprintf(out, ",\n      \"negative_weights\": %s", method->negative_weights ? "true" : "false");
    print_words("transports", method->transports, out);
    print_words("options", options, out);
    print_json_published(method->published, out);
    print_words("trace_columns", method->trace_columns, out);
    fprintf(out, "\n    }");
}

static void print_json_option(const struct hw_option *option, FILE *out)
{
    static const char *const types[] = {"flag",  "switch", "choice", "choices",
                                        "count", "real",   "range"};
    static const char *const switch_words[] = {"off", "on", NULL};
    const char *attributes[] = {option->attribute, option->upper_attribute, NULL};
    char text[HW_OPTION_TEXT];

    fprintf(out, "    {\n      \"name\": ");
    hw_print_json_text(option->name, out);
    print_member("type", types[option->type], out);
    print_member("argument", option->argument, out);
    print_member("help", option->help, out);
    print_member("default", hw_option_default_text(option, text), out);
    if (option->type == HW_OPTION_SWITCH || option->words)
        print_words("words", option->words ? option->words : switch_words, out);
    if (option->type == HW_OPTION_CHOICES)
        fprintf(out, ",\n      \"exclusive_word\": %d", option->exclusive_word);
    if (option->type == HW_OPTION_COUNT || option->type == HW_OPTION_RANGE)
        fprintf(out, ",\n      \"min\": %" PRId64 ",\n      \"max\": %" PRId64, option->min,
                option->max);
    if (option->type == HW_OPTION_RANGE)
        fprintf(out, ",\n      \"powers_of_two\": %s", option->powers_of_two ? "true" : "false");
    if (option->type == HW_OPTION_REAL && option->real_max > 0)
        fprintf(out, ",\n      \"max\": %g", option->real_max);
    if (option->requires) {
        fprintf(out, ",\n      \"requires\": {");
        hw_print_json_text(option->requires->name, out);
        fprintf(out, ": [");
        for (int w = 0, first = 1; option->requires->words[w]; w++)
            if (option->required_words >> w & 1) {
                fprintf(out, "%s", first ? "" : ", ");
                hw_print_json_text(option->requires->words[w], out);
                first = 0;
            }
        fprintf(out, "]}");
    }
    print_words("attributes", attributes, out);
    fprintf(out, "\n    }");
}

static void print_json(const char *const *general, FILE *out)
{
    fprintf(out, "{\n  \"format\": \"hopwave-methods\",\n  \"version\": 1,\n  \"methods\": [\n");
    for (const struct hw_method_descriptor *const *m = hw_method_descriptors(); *m; m++) {
        print_json_method(*m, out);
        fprintf(out, "%s\n", m[1] ? "," : "");
    }
    fprintf(out, "  ],\n  \"options\": [\n");
    for (const struct hw_option *const *o = hw_method_options(); *o; o++) {
        print_json_option(*o, out);
        fprintf(out, "%s\n", o[1] ? "," : "");
    }
    fprintf(out, "  ],\n  \"general_options\": [");
    for (int g = 0; general[g]; g++) {
        fprintf(out, "%s", g ? ", " : "");
        hw_print_json_text(general[g], out);
    }
    fprintf(out, "]\n}\n");
}

/* ---- markdown ---- */

/* Prints text with the bars of tables escaped. */
static void print_cell(const char *text, FILE *out)
{
    for (; *text; text++)
        fprintf(out, *text == '|' ? "\\%c" : "%c", *text);
}

static void print_markdown_option(const struct hw_option *option, FILE *out)
{
    char names[256], range[64], words[HW_OPTION_TEXT], value[HW_OPTION_TEXT];

    list_names(option, names, sizeof names);
    describe_range(option, range, sizeof range);
    describe_words(option, words, sizeof words);
    fprintf(out, "| `--%s%s", option->name, option->argument ? " " : "");
    print_cell(option->argument ? option->argument : "", out);
    fprintf(out, "` | %s | ", names);
    print_cell(option->help, out);
    fprintf(out, " | %s%s | %s | %s%s%s%s%s |\n", range, words,
            option->type == HW_OPTION_FLAG ? "" : hw_option_default_text(option, value),
            option->attribute ? "`" : "", option->attribute ? option->attribute : "",
            option->upper_attribute ? "`, `" : "",
            option->upper_attribute ? option->upper_attribute : "", option->attribute ? "`" : "");
}

static void print_markdown(FILE *out)
{
    char place[128];

    fprintf(out, "# Methods and their options\n\n"
                 "Made from the descriptors of the methods by `hopwave-traverse "
                 "--list-methods=markdown`; `make update-doc` writes it anew.\n\n"
                 "## Methods\n\n"
                 "| `--method` | `--algorithm` | `--device` | layouts and parts | | after |\n"
                 "|---|---|---|---|---|---|\n");
    for (const struct hw_method_descriptor *const *m = hw_method_descriptors(); *m; m++) {
        describe_place(*m, place, sizeof place);
        fprintf(out, "| `%s` | %s | %s | %s | %s%s | %s |\n", (*m)->name,
                hw_algorithm_words[(*m)->algorithm], hw_device_words[(*m)->device], place,
                (*m)->summary, (*m)->negative_weights ? "; accepts negative weights" : "",
                (*m)->citation ? (*m)->citation : "");
    }
    fprintf(out, "\n## Options\n\n"
                 "| option | methods | | values | default | attribute of `/run` |\n"
                 "|---|---|---|---|---|---|\n");
    for (const struct hw_option *const *o = hw_method_options(); *o; o++)
        print_markdown_option(*o, out);
    fprintf(out, "\n## As published\n\n"
                 "`--as-published` runs a method as its paper has it: of these options, those that "
                 "are not given\ntake the paper's values. Other methods refuse it. The pages of "
                 "the methods say what each costs or gains.\n\n"
                 "| method | `--device` | layouts and parts | sets |\n|---|---|---|---|\n");
    for (const struct hw_method_descriptor *const *m = hw_method_descriptors(); *m; m++) {
        if (!(*m)->published)
            continue;
        describe_place(*m, place, sizeof place);
        fprintf(out, "| `%s` | %s | %s | ", (*m)->name, hw_device_words[(*m)->device], place);
        print_published((*m)->published, "`", out);
        fprintf(out, " |\n");
    }
}

/* ---- text ---- */

void hw_methods_print(const char *format, const char *const *general, FILE *out)
{
    char place[128];

    if (format && strcmp(format, "json") == 0) {
        print_json(general, out);
        return;
    }
    if (format) {
        print_markdown(out);
        return;
    }
    for (const struct hw_method_descriptor *const *m = hw_method_descriptors(); *m; m++) {
        describe_place(*m, place, sizeof place);
        fprintf(out, "%-16s %-5s %-5s %-30s %s\n", (*m)->name, hw_algorithm_words[(*m)->algorithm],
                hw_device_words[(*m)->device], place, (*m)->summary);
    }
}

const char *hw_methods_summary(void)
{
    static char text[4096];
    size_t used = 0;

    for (int algorithm = HW_BFS; algorithm <= HW_SSSP; algorithm++) {
        used += (size_t)snprintf(text + used, sizeof text - used, "%sMethods for --algorithm %s:\n",
                                 used ? "\n" : "", hw_algorithm_words[algorithm]);
        for (const struct hw_method_descriptor *const *m = hw_method_descriptors();
             *m && used < sizeof text; m++)
            if ((int)(*m)->algorithm == algorithm && !is_repeated(m))
                used += (size_t)snprintf(text + used, sizeof text - used, "  %-16s %s\n",
                                         (*m)->name, (*m)->summary);
    }
    if (used < sizeof text)
        snprintf(text + used, sizeof text - used,
                 "\n--help=METHOD explains one and its options, --help=all shows all options, "
                 "--list-methods says where each method runs.");
    return text;
}

/* Prints which words of another option an option goes with. */
static void print_required(const struct hw_option *option, FILE *out)
{
    const char *separator = " ";

    fprintf(out, "      only with --%s", option->requires->name);
    for (int w = 0; option->requires->words[w]; w++)
        if (option->required_words >> w & 1) {
            fprintf(out, "%s%s", separator, option->requires->words[w]);
            separator = " or ";
        }
    fprintf(out, "\n");
}

static void print_option_help(const struct hw_option *option, FILE *out)
{
    char range[64], words[HW_OPTION_TEXT], value[HW_OPTION_TEXT];

    describe_range(option, range, sizeof range);
    describe_words(option, words, sizeof words);
    fprintf(out, "  --%s%s%s\n      %s\n", option->name, option->argument ? "=" : "",
            option->argument ? option->argument : "", option->help);
    if (range[0] || words[0])
        fprintf(out, "      values: %s%s\n", range, words);
    if (option->requires)
        print_required(option, out);
    if (option->type != HW_OPTION_FLAG)
        fprintf(out, "      default: %s\n", hw_option_default_text(option, value));
}

void hw_method_help_print(const char *name, FILE *out)
{
    const struct hw_option *printed[HW_OPTIONS_MAX];
    char place[128];
    int count = 0;

    for (const struct hw_method_descriptor *const *m = hw_method_descriptors(); *m; m++) {
        if (strcmp((*m)->name, name) != 0)
            continue;
        describe_place(*m, place, sizeof place);
        fprintf(out, "%s: %s\n  --algorithm %s --device %s; layouts: %s%s\n", name, (*m)->summary,
                hw_algorithm_words[(*m)->algorithm], hw_device_words[(*m)->device], place,
                (*m)->negative_weights ? "; accepts negative weights" : "");
        if ((*m)->transports) {
            fprintf(out, "  transports:");
            for (int t = 0; (*m)->transports[t]; t++)
                fprintf(out, " %s", (*m)->transports[t]);
            fprintf(out, "\n");
        }
        if ((*m)->citation)
            fprintf(out, "  after %s\n", (*m)->citation);
        if ((*m)->published) {
            fprintf(out, "  --as-published sets: ");
            print_published((*m)->published, "", out);
            fprintf(out, "\n");
        }
    }
    for (const struct hw_method_descriptor *const *m = hw_method_descriptors(); *m; m++)
        for (const struct hw_option *const *o = (*m)->options;
             strcmp((*m)->name, name) == 0 && o && *o; o++) {
            bool known = false;
            for (int s = 0; s < count; s++)
                known = known || printed[s] == *o;
            if (known)
                continue;
            if (count == 0)
                fprintf(out, "\nOptions:\n");
            printed[count++] = *o;
            print_option_help(*o, out);
        }
}
