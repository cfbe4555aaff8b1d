/* Replays the corpus: every file of corpus/, in every format and by every target. */
#include "tests/fuzz/fuzz.h"
#include "tests/tap/tap.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Reads a whole file; NULL if it cannot be. */
static uint8_t *read_file(const char *path, size_t *size)
{
    FILE *file = fopen(path, "rb");
    uint8_t *data = NULL;
    long length = -1;

    if (file && fseek(file, 0, SEEK_END) == 0)
        length = ftell(file);
    if (length >= 0)
        data = malloc((size_t)length + 1);
    if (data &&
        (fseek(file, 0, SEEK_SET) != 0 || fread(data, 1, (size_t)length, file) != (size_t)length)) {
        free(data);
        data = NULL;
    }
    *size = (size_t)length;
    if (file)
        fclose(file);
    return data;
}

/* Replays one folder; returns how many files it has, -1 where one cannot be read. */
static int replay(const char *folder)
{
    DIR *entries = opendir(folder);
    int files = 0;

    if (!entries)
        return -1;
    for (struct dirent *entry = readdir(entries); entry; entry = readdir(entries)) {
        char path[4096 + 256 + 2];
        size_t size;
        if (entry->d_name[0] == '.')
            continue;
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        uint8_t *data = read_file(path, &size);
        if (!data) {
            closedir(entries);
            return -1;
        }
        for (int i = 0; hw_fuzz_readers[i]; i++)
            hw_fuzz(hw_fuzz_readers[i], data, size);
        hw_fuzz_stream(data, size);
        hw_fuzz_roots(data, size);
        hw_fuzz_attributes(data, size);
        hw_fuzz_messages(data, size);
        hw_fuzz_frontiers(data, size);
        hw_fuzz_json(data, size);
        free(data);
        files++;
    }
    closedir(entries);
    return files;
}

/* Replays the folder of that name. */
static void test(struct tap *tap, const char *name)
{
    const char *source = getenv("top_srcdir");
    char folder[4096];

    snprintf(folder, sizeof folder, "%s/tests/fuzz/corpus/%s", source ? source : ".", name);
    const int files = replay(folder);
    tap_ok(tap, files > 0, "%s: %d files", name, files);
}

int main(void)
{
    struct tap tap = {0};

    static const char *const others[] = {"stream",   "roots",     "attributes",
                                         "messages", "frontiers", "json"};

    tap_plan(&tap, 7 + (int)(sizeof others / sizeof *others));
    for (int i = 0; hw_fuzz_readers[i]; i++)
        test(&tap, hw_fuzz_readers[i]->name);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        test(&tap, others[i]);
    return tap_done(&tap);
}
