#ifndef ATRIUM_CBITS_H
#define ATRIUM_CBITS_H

#include <stddef.h>
#include <stdint.h>

/* Loops over memory that are worth the processor's widest instructions. Each is compiled for
   several generations of processors, and the one for the machine at hand is chosen at each call;
   Swift has no way to say that. */

/// How many bits are set in `count` words.
size_t bits_count(const uint64_t *words, size_t count);

/// How many bits are set in both.
size_t bits_count_and(const uint64_t *left, const uint64_t *right, size_t count);

/// A bit for each of `count` numbers that is neither below `lower` nor above `upper`, the lowest
/// first; bits behind the last are 0.
void bits_in_range(const double *numbers, size_t count, double lower, double upper,
                   uint64_t *words);

/// A text to be found, and the two of its places whose bytes are rarest.
struct bits_needle {
    const uint8_t *bytes;
    size_t length;
    size_t first;
    size_t second;
};

/// Finds a needle in a text, from `*start` on.
///
/// Writes the places where it stands, ascending, overlapping ones too, until the text ends or there
/// is no room for 64 more of `capacity`, which is at least 64. `*start` is then where to go on. Returns
/// how many were written: only at the end of the text none.
size_t bits_find(const uint8_t *text, size_t length, const struct bits_needle *needle,
                 size_t *start, uint32_t *places, size_t capacity);

#endif
