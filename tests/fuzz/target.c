/* The entry of libFuzzer: for the format HW_FUZZ_READER, or the function HW_FUZZ_FUNCTION. */
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
#ifdef HW_FUZZ_READER
    hw_fuzz(&HW_FUZZ_READER, data, size);
#else
    HW_FUZZ_FUNCTION(data, size);
#endif
    return 0;
}
