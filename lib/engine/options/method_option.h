/*
 * Options of search methods, as data: one struct hw_option says an option's name, type, range,
 * default, help and the attribute of /run that records it. Parsing, help, JSON, the resume key and
 * /run's record are loops over such structs, so that a method's options are written once.
 *
 * A struct hw_option_values holds what a user gave. Each getter returns the default of an option
 * that was not given, so {0} is a valid set of values. Options are compared by address: every
 * option is one object.
 */
#ifndef HOPWAVE_ENGINE_OPTIONS_METHOD_OPTION_H
#define HOPWAVE_ENGINE_OPTIONS_METHOD_OPTION_H

#include "lib/base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hw_option_values;
struct hw_result;

enum hw_option_type {
    HW_OPTION_FLAG,    /* no argument; number: 0 or 1 */
    HW_OPTION_SWITCH,  /* "on" or "off"; number: 1 or 0 */
    HW_OPTION_CHOICE,  /* one of words; number: its index */
    HW_OPTION_CHOICES, /* several of words, separated by commas; number: bit i-1 for word i. Word 0
                          stands for the default and is no bit. */
    HW_OPTION_COUNT,   /* a whole number */
    HW_OPTION_REAL,    /* a number above 0 */
    HW_OPTION_RANGE    /* LOW:HIGH, whole numbers; number: LOW, upper: HIGH */
};

/* A value; its type says which members are meant. */
struct hw_option_value {
    int64_t number, upper;
    double real;
};

struct hw_option {
    const char *name; /* "edges-per-thread", without dashes before it */
    enum hw_option_type type;
    const char *argument; /* in help: "N"; NULL for flags */
    const char *help;     /* a phrase without its default and without a period */

    const char *const *words;    /* CHOICE, CHOICES: NULL-ended */
    const int64_t *word_numbers; /* CHOICE: the number that /run records for each word; NULL: the
                                    word itself */
    int exclusive_word;          /* CHOICES: from this index on, words exclude all others, as word
                                    0 does */
    int64_t min, max;            /* COUNT, RANGE: inclusive */
    bool powers_of_two;          /* RANGE: both ends are */
    double real_max;             /* REAL: inclusive */
    const char *noun;            /* REAL: "width", in the refusal of 0 */

    struct hw_option_value initial; /* the default */
    /* The default where it depends on other options; NULL: initial. Local. */
    struct hw_option_value (*derived)(const struct hw_option_values *values);
    const char *default_text; /* where the value does not say it; NULL: the value */

    const char *attribute;       /* of /run; NULL: not recorded */
    const char *upper_attribute; /* RANGE: of HIGH */
    bool negated;                /* FLAG: the attribute is 1 where the flag is not given */
    /* The value that a search used in place of the default or of what was given; NULL: the same
     * as given. REAL, and CHOICE: the index of the word. */
    double (*reported)(const struct hw_result *result);

    /* Only for certain words of another option, one bit each; requires == NULL: for all. */
    const struct hw_option *requires;
    uint64_t required_words;
};

/* Given options at most. */
#define HW_OPTIONS_MAX 96

/* The values given. */
struct hw_option_values {
    int count;
    struct {
        const struct hw_option *option;
        struct hw_option_value value;
    } given[HW_OPTIONS_MAX];
};

/* ---- reading ---- */

/* The value, or the default. Local. */
struct hw_option_value hw_option_value(const struct hw_option_values *values,
                                       const struct hw_option *option);
bool hw_option_flag(const struct hw_option_values *values, const struct hw_option *option);
int64_t hw_option_number(const struct hw_option_values *values, const struct hw_option *option);
double hw_option_real(const struct hw_option_values *values, const struct hw_option *option);

/* Whether it was given. Local. */
bool hw_option_given(const struct hw_option_values *values, const struct hw_option *option);

/* Whether it was given, and asks for anything: words, flags and switches at their default are
 * harmless to methods without the option. Local. */
bool hw_option_asks(const struct hw_option_values *values, const struct hw_option *option);

/* ---- writing ---- */

/* Sets a value, which must be within the option's range. Local. */
void hw_option_set(struct hw_option_values *values, const struct hw_option *option,
                   struct hw_option_value value);
void hw_option_set_number(struct hw_option_values *values, const struct hw_option *option,
                          int64_t number);
void hw_option_set_real(struct hw_option_values *values, const struct hw_option *option,
                        double real);

/* Parses text, which is ignored for flags, and sets the value. Returns HW_USAGE with a message that
 * begins "--name: " for text that is no such value. Local. */
enum hw_status hw_option_parse(const struct hw_option *option, const char *text,
                               struct hw_option_values *values, struct hw_error *err);

/* Returns HW_USAGE where an option was given without the word of another that it requires. Local.
 */
enum hw_status hw_option_check_requires(const struct hw_option *option,
                                        const struct hw_option_values *values,
                                        struct hw_error *err);

/* Whether the values hold a word that the option requires, or it requires none. Local. */
bool hw_option_applies(const struct hw_option *option, const struct hw_option_values *values);

/* ---- text ---- */

/* Characters that hw_option_format() needs at most. */
#define HW_OPTION_TEXT 128

/* The value as a user writes it: "hybrid", "0.03", "4:32"; of flags "1" or "0". text has
 * HW_OPTION_TEXT bytes. Local. */
void hw_option_format(const struct hw_option *option, const struct hw_option_value *value,
                      char *text);

/* The default for help: default_text, or the formatted value. text: as above. Local. */
const char *hw_option_default_text(const struct hw_option *option, char *text);

#endif
