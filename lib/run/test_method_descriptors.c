/* The descriptors of all methods and their options: what help, JSON and studies rely on. */
#include "gpu/hopwave_gpu.h"
#include "lib/engine/core/method.h"
#include "tests/tap/tap.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

/* Whether a phrase begins with a capital, and ends without a period. */
static bool is_phrase(const char *text)
{
    return text && isupper((unsigned char)text[0]) && text[strlen(text) - 1] != '.';
}

/* Whether a value that an option prints is one that it parses, and the same. */
static bool reads_back(const struct hw_option *option, const struct hw_option_value *value)
{
    struct hw_option_values values = {0};
    char text[HW_OPTION_TEXT], again[HW_OPTION_TEXT];

    hw_option_format(option, value, text);
    if (hw_option_parse(option, text, &values, NULL) != HW_OK)
        return false;
    const struct hw_option_value parsed = hw_option_value(&values, option);
    hw_option_format(option, &parsed, again);
    return strcmp(text, again) == 0;
}

static void test_option(struct tap *tap, const struct hw_option *option)
{
    const bool chosen = option->default_text != NULL; /* the value says nothing then */
    bool unique = true, attributes = true;

    for (const struct hw_option *const *o = hw_method_options(); *o; o++) {
        unique = unique && (*o == option || strcmp((*o)->name, option->name) != 0);
        attributes = attributes && (*o == option || !option->attribute || !(*o)->attribute ||
                                    strcmp((*o)->attribute, option->attribute) != 0);
    }
    tap_ok(tap, unique && attributes, "--%s: name and attribute are its own", option->name);
    tap_ok(tap, is_phrase(option->help), "--%s: help is a phrase", option->name);
    tap_ok(tap, (option->argument == NULL) == (option->type == HW_OPTION_FLAG),
           "--%s: flags alone take no argument", option->name);
    tap_ok(tap, chosen || option->type == HW_OPTION_FLAG || reads_back(option, &option->initial),
           "--%s: its default is within its range", option->name);
    tap_ok(tap, (option->type == HW_OPTION_RANGE) == (option->upper_attribute != NULL),
           "--%s: ranges are two attributes", option->name);
}

static void test_method(struct tap *tap, const struct hw_method_descriptor *method)
{
    tap_ok(tap, is_phrase(method->summary), "%s: the summary is a phrase", method->name);
    tap_ok(tap, method->layouts != 0, "%s: it has a layout", method->name);
    tap_ok(tap, method->algorithm == HW_SSSP || !method->negative_weights,
           "%s: weights are for shortest paths", method->name);
}

/* Whether a published option is one of the method's, and its value is not the default. */
static bool is_deviation(const struct hw_method_descriptor *method,
                         const struct hw_published_option *published)
{
    const struct hw_option *option = published->option;
    struct hw_option_values values = {0};
    char text[HW_OPTION_TEXT], initial[HW_OPTION_TEXT];

    if (!hw_method_has(method, option) ||
        (published->value == NULL) != (option->type == HW_OPTION_FLAG) ||
        hw_option_parse(option, published->value, &values, NULL) != HW_OK)
        return false;
    const struct hw_option_value value = hw_option_value(&values, option);
    hw_option_format(option, &value, text);
    hw_option_format(option, &option->initial, initial);
    return strcmp(text, initial) != 0 || option->default_text || option->derived;
}

static void test_published(struct tap *tap, const struct hw_method_descriptor *method)
{
    const struct hw_published_option *first = method->published;
    struct hw_engine_options options = {.algorithm = method->algorithm, .trace = true};
    struct hw_option_values given = {0};
    struct hw_error err = {{0}};
    bool deviate = first && first->option;

    if (!first) {
        tap_ok(tap,
               hw_method_publish(method, &given, &err) == HW_BAD_INPUT && given.count == 0 &&
                   strstr(err.text, "--as-published: method ") && strstr(err.text, "adaptive"),
               "%s: has no published options: %s", method->name, err.text);
        return;
    }
    for (const struct hw_published_option *p = first; p->option; p++)
        deviate = deviate && is_deviation(method, p);
    hw_option_set(&given, first->option, first->option->initial);
    const enum hw_status one = hw_method_publish(method, &given, &err);
    const enum hw_status all = hw_method_publish(method, &options.values, &err);
    const struct hw_option_value kept = hw_option_value(&given, first->option);
    tap_ok(tap,
           deviate && one == HW_OK && all == HW_OK &&
               kept.number == first->option->initial.number &&
               kept.real == first->option->initial.real &&
               hw_method_check_options(method, &options, &err) == HW_OK,
           "%s: published options are its own, differ from the defaults, and give way: %s",
           method->name, err.text);
}

/* The engines of this build point to descriptors of the list. */
static void test_engines(struct tap *tap)
{
    const struct hw_method *const *gpu = hw_gpu_methods();
    const struct hw_method_descriptor *const *descriptors = hw_gpu_method_descriptors();
    int listed = 0, engines = 0;

    for (; descriptors[listed]; listed++)
        if (gpu[engines] && gpu[engines]->descriptor == descriptors[listed])
            engines++;
    tap_ok(tap, listed >= 16, "GPU methods are listed in every build: %d", listed);
    tap_ok(tap, !gpu[engines] && (engines == 0 || engines == listed),
           "with all their engines, or none: %d", engines);
}

static void test_refusals(struct tap *tap)
{
    struct hw_engine_options options = {.algorithm = HW_BFS};
    struct hw_error err = {{0}};

    tap_ok(tap,
           hw_method_check_name("delegate", &err) == HW_USAGE &&
               strstr(err.text, "did you mean 'delegates'?"),
           "the nearest name: %s", err.text);
    tap_ok(tap, hw_method_check_name("zzzzzz", &err) == HW_USAGE && strstr(err.text, "names them"),
           "no name is near: %s", err.text);
    tap_ok(tap, hw_method_check_name("auto", NULL) == HW_OK, "auto is a name");
    hw_option_set_number(&options.values, &hw_option_exchange, HW_EXCHANGE_LIST);
    const struct hw_method_descriptor *const *m = hw_method_descriptors();
    while (strcmp((*m)->name, "delegates") != 0)
        m++;
    tap_ok(tap,
           hw_method_check_options(*m, &options, &err) == HW_BAD_INPUT &&
               strstr(err.text, "methods grid and scan2d"),
           "an option of other methods: %s", err.text);
    hw_option_set_number(&options.values, &hw_option_exchange, HW_EXCHANGE_AUTO);
    tap_ok(tap, hw_method_check_options(*m, &options, &err) == HW_OK,
           "its default is harmless to them");
}

int main(void)
{
    struct tap tap = {0};
    int options = 0, methods = 0;

    while (hw_method_options()[options])
        options++;
    while (hw_method_descriptors()[methods])
        methods++;
    tap_plan(&tap, 5 * options + 4 * methods + 7);
    for (const struct hw_option *const *o = hw_method_options(); *o; o++)
        test_option(&tap, *o);
    for (const struct hw_method_descriptor *const *m = hw_method_descriptors(); *m; m++)
        test_method(&tap, *m);
    for (const struct hw_method_descriptor *const *m = hw_method_descriptors(); *m; m++)
        test_published(&tap, *m);
    test_engines(&tap);
    test_refusals(&tap);
    return tap_done(&tap);
}
