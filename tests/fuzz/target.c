/* The entry of libFuzzer for the format HW_FUZZ_READER. */
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    hw_fuzz(&HW_FUZZ_READER, data, size);
    return 0;
}
