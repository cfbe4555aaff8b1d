/*
 * Any bytes as a file of some format, or as a list of roots: parsed whole and in pieces, which must
 * give the same; as attributes, as messages between ranks and as JSON. Built for libFuzzer (make
 * fuzz) and for the replay of a small corpus (replay.c, part of make check).
 */
#ifndef HOPWAVE_TESTS_FUZZ_FUZZ_H
#define HOPWAVE_TESTS_FUZZ_FUZZ_H

#include "lib/graph/import/format_reader.h"

/*
 * Recognizes data[0..size), reads its header and parses its lines as the format does,
 * with options that the size chooses; a header that is refused is fine. Ends the
 * process (abort()) where ids are out of range or two ways of cutting the text into
 * pieces do not agree. Local.
 */
void hw_fuzz(const struct hw_reader *reader, const uint8_t *data, size_t size);

/* The same for a binary format (binary.c); hw_fuzz() calls it. */
void hw_fuzz_items(const struct hw_reader *reader, const uint8_t *data, size_t size);

/* Unpacks data as a compressed file, twice and in pieces of two sizes, which must
 * give the same (binary.c). Local. */
void hw_fuzz_stream(const uint8_t *data, size_t size);

/* Takes data as lists of roots (roots.c). Local. */
void hw_fuzz_roots(const uint8_t *data, size_t size);

/* Takes data as a table of attributes and datasets, and as a message between ranks that holds one
 * (catalogues.c); as frontiers and edges that ranks exchange (frontiers.c); as a text that is
 * printed as JSON (json.c). Local. */
void hw_fuzz_attributes(const uint8_t *data, size_t size);
void hw_fuzz_messages(const uint8_t *data, size_t size);
void hw_fuzz_frontiers(const uint8_t *data, size_t size);
void hw_fuzz_json(const uint8_t *data, size_t size);

/* Ends the process unless it holds. */
void hw_fuzz_demand(bool holds, const char *what);

/* Memory of exactly that many bytes, so that a step past it is seen. */
void *hw_fuzz_room(size_t size);

/* The formats that are fuzzed, NULL-ended. */
extern const struct hw_reader *const hw_fuzz_readers[];

#endif
