/*
 * Any bytes as a file of some format: parsed whole and in pieces, which must give
 * the same. Built for libFuzzer (make fuzz) and for the replay of a small corpus
 * (replay.c, part of make check).
 */
#ifndef HOPWAVE_TESTS_FUZZ_H
#define HOPWAVE_TESTS_FUZZ_H

#include "graph/import_reader.h"

/*
 * Recognizes data[0..size), reads its header and parses its lines as the format does,
 * with options that the size chooses; a header that is refused is fine. Ends the
 * process (abort()) where ids are out of range or two ways of cutting the text into
 * pieces do not agree. Local.
 */
void hw_fuzz(const struct hw_reader *reader, const uint8_t *data, size_t size);

/* The formats that are fuzzed, NULL-ended. */
extern const struct hw_reader *const hw_fuzz_readers[];

#endif
