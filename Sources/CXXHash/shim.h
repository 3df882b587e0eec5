/* What libxxhash offers to Store: XXH3_64bits_withSeed. */
#include <xxhash.h>
