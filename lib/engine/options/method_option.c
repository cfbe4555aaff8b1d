#include "lib/engine/options/method_option.h"

#include "lib/base/cli.h"

#include <assert.h>
#include <float.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const switch_words[] = {"off", "on", NULL};

/* ---- reading ---- */

static const struct hw_option_value *find(const struct hw_option_values *values,
                                          const struct hw_option *option)
{
    for (int i = 0; i < values->count; i++)
        if (values->given[i].option == option)
            return &values->given[i].value;
    return NULL;
}

struct hw_option_value hw_option_value(const struct hw_option_values *values,
                                       const struct hw_option *option)
{
    const struct hw_option_value *given = find(values, option);

    if (given)
        return *given;
    return option->derived ? option->derived(values) : option->initial;
}

bool hw_option_flag(const struct hw_option_values *values, const struct hw_option *option)
{
    return hw_option_value(values, option).number != 0;
}

int64_t hw_option_number(const struct hw_option_values *values, const struct hw_option *option)
{
    return hw_option_value(values, option).number;
}

double hw_option_real(const struct hw_option_values *values, const struct hw_option *option)
{
    return hw_option_value(values, option).real;
}

bool hw_option_given(const struct hw_option_values *values, const struct hw_option *option)
{
    return find(values, option) != NULL;
}

bool hw_option_asks(const struct hw_option_values *values, const struct hw_option *option)
{
    if (!hw_option_given(values, option))
        return false;
    if (option->type == HW_OPTION_COUNT || option->type == HW_OPTION_REAL ||
        option->type == HW_OPTION_RANGE)
        return true;
    return hw_option_number(values, option) != option->initial.number;
}

/* ---- writing ---- */

void hw_option_set(struct hw_option_values *values, const struct hw_option *option,
                   struct hw_option_value value)
{
    int i = 0;

    while (i < values->count && values->given[i].option != option)
        i++;
    assert(i < HW_OPTIONS_MAX);
    values->given[i].option = option;
    values->given[i].value = value;
    if (i == values->count)
        values->count++;
}

void hw_option_set_number(struct hw_option_values *values, const struct hw_option *option,
                          int64_t number)
{
    hw_option_set(values, option, (struct hw_option_value){.number = number});
}

void hw_option_set_real(struct hw_option_values *values, const struct hw_option *option,
                        double real)
{
    hw_option_set(values, option, (struct hw_option_value){.real = real});
}

/* Words separated by commas, as bits. name: with its dashes. */
static enum hw_status parse_choices(const struct hw_option *option, const char *name,
                                    const char *text, int64_t *bits, struct hw_error *err)
{
    int count = 0;

    *bits = 0;
    for (const char *at = text; at; count++) {
        const char *comma = strchr(at, ',');
        char *way = comma ? strndup(at, (size_t)(comma - at)) : strdup(at);
        int word = 0;
        if (!way)
            return hw_fail(err, HW_RESOURCES, "no memory for the options");
        enum hw_status status = hw_cli_choice(name, way, option->words, &word, err);
        free(way);
        if (status != HW_OK)
            return status;
        at = comma ? comma + 1 : NULL;
        if ((word == 0 || word >= option->exclusive_word) && (at || count > 0))
            return hw_fail(err, HW_USAGE, "%s: %s stands alone", name, option->words[word]);
        if (word > 0)
            *bits |= INT64_C(1) << (word - 1);
    }
    return HW_OK;
}

static bool is_power_of_two(int64_t number)
{
    return number > 0 && (number & (number - 1)) == 0;
}

static enum hw_status parse_range(const struct hw_option *option, const char *name,
                                  const char *text, struct hw_option_value *value,
                                  struct hw_error *err)
{
    unsigned low = 0, high = 0;
    int end = 0;
    bool right = sscanf(text, "%u:%u%n", &low, &high, &end) == 2 && !text[end] &&
                 low >= option->min && high <= option->max && low <= high;

    if (!right || (option->powers_of_two && !(is_power_of_two(low) && is_power_of_two(high))))
        return hw_fail(err, HW_USAGE,
                       "%s: '%s' is no range of %s from %" PRId64 " to %" PRId64
                       ", such as %" PRId64 ":%" PRId64,
                       name, text, option->powers_of_two ? "powers of two" : "whole numbers",
                       option->min, option->max, option->initial.number, option->initial.upper);
    value->number = low;
    value->upper = high;
    return HW_OK;
}

static enum hw_status parse_real(const struct hw_option *option, const char *name, const char *text,
                                 double *real, struct hw_error *err)
{
    HW_TRY(
        hw_cli_real(name, text, 0, option->real_max > 0 ? option->real_max : FLT_MAX, real, err));

    if (*real <= 0)
        return hw_fail(err, HW_USAGE, "%s: %s is no %s; it must be above 0", name, text,
                       option->noun ? option->noun : "value");
    return HW_OK;
}

enum hw_status hw_option_parse(const struct hw_option *option, const char *text,
                               struct hw_option_values *values, struct hw_error *err)
{
    struct hw_option_value value = {0};
    enum hw_status status = HW_OK;
    char name[64];
    int word = 0;

    snprintf(name, sizeof name, "--%s", option->name);
    switch (option->type) {
    case HW_OPTION_FLAG:
        value.number = 1;
        break;
    case HW_OPTION_SWITCH:
    case HW_OPTION_CHOICE:
        status = hw_cli_choice(name, text,
                               option->type == HW_OPTION_SWITCH ? switch_words : option->words,
                               &word, err);
        /* "auto" is the default, whatever that is. */
        value.number =
            word == 0 && option->type == HW_OPTION_CHOICE && strcmp(option->words[0], "auto") == 0
                ? option->initial.number
                : word;
        break;
    case HW_OPTION_CHOICES:
        status = parse_choices(option, name, text, &value.number, err);
        break;
    case HW_OPTION_COUNT:
        status = hw_cli_count(name, text, option->min, option->max, &value.number, err);
        break;
    case HW_OPTION_REAL:
        status = parse_real(option, name, text, &value.real, err);
        break;
    case HW_OPTION_RANGE:
        status = parse_range(option, name, text, &value, err);
        break;
    }
    if (status == HW_OK)
        hw_option_set(values, option, value);
    return status;
}

bool hw_option_applies(const struct hw_option *option, const struct hw_option_values *values)
{
    return !option->requires ||
           (option->required_words >> hw_option_number(values, option->requires) & 1);
}

enum hw_status hw_option_check_requires(const struct hw_option *option,
                                        const struct hw_option_values *values, struct hw_error *err)
{
    const struct hw_option *other = option->requires;
    char words[HW_OPTION_TEXT] = "";
    size_t used = 0;

    if (!hw_option_given(values, option) || hw_option_applies(option, values))
        return HW_OK;
    for (int w = 0; other->words[w] && used < sizeof words; w++)
        if (option->required_words >> w & 1)
            used += (size_t)snprintf(words + used, sizeof words - used, "%s%s", used ? " or " : "",
                                     other->words[w]);
    return hw_fail(err, HW_USAGE, "--%s: is for --%s %s", option->name, other->name, words);
}

/* ---- text ---- */

static void format_choices(const struct hw_option *option, int64_t bits, char *text)
{
    size_t used = 0;

    snprintf(text, HW_OPTION_TEXT, "%s", option->words[0]);
    for (int w = 1; option->words[w] && used < HW_OPTION_TEXT; w++)
        if (bits >> (w - 1) & 1)
            used += (size_t)snprintf(text + used, HW_OPTION_TEXT - used, "%s%s", used ? "," : "",
                                     option->words[w]);
}

/* The shortest text that reads back as the same number. */
static void format_real(double real, char *text)
{
    /* From 6 digits on, as %g has: fewer would write 10 as 1e+01. */
    for (int digits = 6; digits <= 17; digits++) {
        snprintf(text, HW_OPTION_TEXT, "%.*g", digits, real);
        if (strtod(text, NULL) == real)
            return;
    }
}

void hw_option_format(const struct hw_option *option, const struct hw_option_value *value,
                      char *text)
{
    switch (option->type) {
    case HW_OPTION_FLAG:
    case HW_OPTION_COUNT:
        snprintf(text, HW_OPTION_TEXT, "%" PRId64, value->number);
        break;
    case HW_OPTION_SWITCH:
        snprintf(text, HW_OPTION_TEXT, "%s", switch_words[value->number]);
        break;
    case HW_OPTION_CHOICE:
        snprintf(text, HW_OPTION_TEXT, "%s", option->words[value->number]);
        break;
    case HW_OPTION_CHOICES:
        format_choices(option, value->number, text);
        break;
    case HW_OPTION_REAL:
        format_real(value->real, text);
        break;
    case HW_OPTION_RANGE:
        snprintf(text, HW_OPTION_TEXT, "%" PRId64 ":%" PRId64, value->number, value->upper);
        break;
    }
}

const char *hw_option_default_text(const struct hw_option *option, char *text)
{
    if (option->default_text)
        return option->default_text;
    hw_option_format(option, &option->initial, text);
    return text;
}
