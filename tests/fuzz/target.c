/* The entry of libFuzzer for the format HW_FUZZ_READER, or for compressed files. */
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
#ifdef HW_FUZZ_READER
    hw_fuzz(&HW_FUZZ_READER, data, size);
#else
    hw_fuzz_stream(data, size);
#endif
    return 0;
}
