/*
 * Small files for the units of the store, the same at every rank count.
 */
#ifndef HOPWAVE_STORE_TEST_FILES_H
#define HOPWAVE_STORE_TEST_FILES_H

#include "store/store.h"
#include "tap.h"

#define TEST_VERTICES 1000

/* A fixed mixture of numbers below TEST_VERTICES. */
uint32_t test_number(hw_count i, uint64_t salt);

/* Starts a graph file of that many edges, with weights, and writes all of it but
 * the end. Collective. */
enum hw_status test_start_graph(const struct hw_context *ctx, const char *path, hw_count edges,
                                bool force, struct hw_store **store, struct hw_error *err);

/* A whole graph file, with what every stage records and a table. Collective. */
enum hw_status test_write_graph(const struct hw_context *ctx, const char *path, hw_count edges,
                                char *digest, struct hw_error *err);

/* A partition of 1 x parts whose lists differ in length; one part has none.
 * Collective. */
#define TEST_PARTS 5
enum hw_status test_write_partition(const struct hw_context *ctx, const char *path, char *digest,
                                    struct hw_error *err);

/* Where the lists of each part of that partition begin: [TEST_PARTS + 1]. */
void test_partition_starts(hw_count *start);

/* Makes a folder that all ranks enter, and removes it. Collective. */
bool test_enter_folder(const struct tap *tap, char folder[TAP_FOLDER]);
void test_leave_folder(const struct tap *tap, const char *folder);

/* Files in the current folder, hidden ones too. Collective. */
int test_count_files(const struct hw_context *ctx);

#endif
