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

/// A text to be found, and the four of its places whose bytes are rarest: all of them where it has no
/// more, some of them twice where it has less.
struct bits_needle {
    const uint8_t *bytes;
    size_t length;
    size_t rarest[4];
    /// For each beginning of it, how long the longest shorter one is that this beginning ends with;
    /// not looked at where it has no more than four bytes.
    const uint32_t *borders;
};

/// What each of several texts, one behind the other, ends with: a byte that UTF-8 never has.
#define BITS_END 0xFF

/// How far a search has come.
struct bits_search {
    /// Where it goes on.
    size_t place;
    /// The number of the text that this place is in.
    uint32_t text;
    /// The text that was found last; `UINT32_MAX` where there is none.
    uint32_t last;
    /// How many bytes of the needle it has looked at, one after the other; 0 at the start.
    size_t effort;
};

/// Finds the texts of many that hold a needle, from `search` on.
///
/// Writes their numbers, ascending and each once, until the bytes end or there is no room for 64 more of
/// `capacity`, which is at least 64. Returns how many were written: only at the end none.
size_t bits_find(const uint8_t *bytes, size_t length, const struct bits_needle *needle,
                 struct bits_search *search, uint32_t *texts, size_t capacity);

/// Has memory brought near that is to be read soon.
static inline void bits_prefetch(const void *memory) { __builtin_prefetch(memory); }

#endif
