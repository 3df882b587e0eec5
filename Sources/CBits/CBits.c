#include "CBits.h"

#include <string.h>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

/* Each loop is written once, as an inline function, and compiled once for every generation of
   processors that does it notably faster. The choice is a look at a flag at each call: a resolver
   that runs before main, as target_clones makes one, does not go with the sanitizers. */

#define INLINE static inline __attribute__((always_inline))

#if defined(__x86_64__)
#define WIDEST __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx512vpopcntdq,popcnt")))
#define WIDE __attribute__((target("avx2,popcnt")))
#define CHOOSE(name, ...)                                                                     \
    if (__builtin_cpu_supports("avx512vpopcntdq") && __builtin_cpu_supports("avx512bw"))      \
        return name##_widest(__VA_ARGS__);                                                    \
    if (__builtin_cpu_supports("avx2")) return name##_wide(__VA_ARGS__);                      \
    return name##_any(__VA_ARGS__)
#else
#define WIDEST
#define WIDE
#define CHOOSE(name, ...) return name##_any(__VA_ARGS__)
#endif

INLINE size_t count_any(const uint64_t *words, size_t count) {
    size_t sum = 0;
    for (size_t i = 0; i < count; i++) sum += (size_t)__builtin_popcountll(words[i]);
    return sum;
}
WIDEST static size_t count_widest(const uint64_t *words, size_t count) {
    return count_any(words, count);
}
WIDE static size_t count_wide(const uint64_t *words, size_t count) {
    return count_any(words, count);
}

size_t bits_count(const uint64_t *words, size_t count) { CHOOSE(count, words, count); }

INLINE size_t count_and_any(const uint64_t *left, const uint64_t *right, size_t count) {
    size_t sum = 0;
    for (size_t i = 0; i < count; i++) sum += (size_t)__builtin_popcountll(left[i] & right[i]);
    return sum;
}
WIDEST static size_t count_and_widest(const uint64_t *left, const uint64_t *right, size_t count) {
    return count_and_any(left, right, count);
}
WIDE static size_t count_and_wide(const uint64_t *left, const uint64_t *right, size_t count) {
    return count_and_any(left, right, count);
}

size_t bits_count_and(const uint64_t *left, const uint64_t *right, size_t count) {
    CHOOSE(count_and, left, right, count);
}

INLINE void in_range_any(const double *numbers, size_t count, double lower, double upper,
                         uint64_t *words) {
    for (size_t word = 0; word < count / 64; word++) {
        const double *these = numbers + word * 64;
        uint64_t bits = 0;
        for (int i = 0; i < 64; i++)
            bits |= (uint64_t)((these[i] >= lower) & (these[i] <= upper)) << i;
        words[word] = bits;
    }
    if (count % 64 == 0) return;
    uint64_t bits = 0;
    for (size_t i = count / 64 * 64; i < count; i++)
        bits |= (uint64_t)((numbers[i] >= lower) & (numbers[i] <= upper)) << (i % 64);
    words[count / 64] = bits;
}
WIDEST static void in_range_widest(const double *numbers, size_t count, double lower, double upper,
                                   uint64_t *words) {
    in_range_any(numbers, count, lower, upper, words);
}
WIDE static void in_range_wide(const double *numbers, size_t count, double lower, double upper,
                               uint64_t *words) {
    in_range_any(numbers, count, lower, upper, words);
}

void bits_in_range(const double *numbers, size_t count, double lower, double upper,
                   uint64_t *words) {
    CHOOSE(in_range, numbers, count, lower, upper, words);
}

/* Many places at once, compared on the needle's four rarest bytes: that costs less than to look at
   places where only two agree, which no branch predictor knows. A needle of more is looked at as a
   whole where they agree. Which text a place is in says the number of ends before it, which are
   counted as many at once. AGREEING gives a bit for each of WIDTH places.

   Where the rarest bytes agree often and the whole does not, in texts that repeat themselves, looking
   at the whole at each place would cost the product of both lengths. Once it has cost several looks a
   byte, find_steadily takes over, which never goes back. */
#define FIND(NAME, TARGET, WIDTH, AGREEING)                                                        \
    TARGET static size_t NAME(const uint8_t *bytes, size_t length,                                 \
                              const struct bits_needle *needle, struct bits_search *search,        \
                              uint32_t *texts, size_t capacity) {                                  \
        size_t found = 0, place = search->place, effort = search->effort;                          \
        uint32_t text = search->text, last = search->last;                                         \
        const size_t *at = needle->rarest;                                                         \
        uint8_t rare[] = {needle->bytes[at[0]], needle->bytes[at[1]], needle->bytes[at[2]],        \
                          needle->bytes[at[3]]};                                                   \
        /* Nothing is read behind the bytes. */                                                    \
        while (found + WIDTH <= capacity && place + needle->length + WIDTH - 1 <= length           \
               && effort <= patience(place)) {                                                     \
            uint64_t ends = AGREEING(bytes + place, BITS_END);                                     \
            uint64_t hits = AGREEING(bytes + place + at[0], rare[0])                               \
                            & AGREEING(bytes + place + at[1], rare[1])                             \
                            & AGREEING(bytes + place + at[2], rare[2])                             \
                            & AGREEING(bytes + place + at[3], rare[3]);                            \
            for (; hits; hits &= hits - 1) {                                                       \
                const uint8_t *hit = bytes + place + __builtin_ctzll(hits);                        \
                uint32_t in = text + (uint32_t)__builtin_popcountll(ends & ~hits & (hits - 1));    \
                if (in == last) continue;                                                          \
                if (needle->length > 4 && !is_at(hit, needle, &effort)) continue;                  \
                texts[found++] = last = in;                                                        \
            }                                                                                      \
            text += (uint32_t)__builtin_popcountll(ends);                                          \
            place += WIDTH;                                                                        \
        }                                                                                          \
        int is_tail = place + needle->length + WIDTH - 1 > length;                                 \
        for (; is_tail && found < capacity && place + needle->length <= length                     \
               && effort <= patience(place);                                                       \
             place++) {                                                                            \
            if (text != last && is_at(bytes + place, needle, &effort)) texts[found++] = last = text;\
            text += bytes[place] == BITS_END;                                                      \
        }                                                                                          \
        *search = (struct bits_search){place, text, last, effort};                                 \
        if (effort <= patience(place)) return found;                                               \
        return find_steadily(bytes, length, needle, search, texts, found, capacity);               \
    }

/* How many bytes of needles may have been looked at up to a place. */
INLINE size_t patience(size_t place) { return 8 * place + 4096; }

INLINE int is_at(const uint8_t *place, const struct bits_needle *needle, size_t *effort) {
    size_t same = 0;
    while (same < needle->length && place[same] == needle->bytes[same]) same++;
    *effort += same;
    return same == needle->length;
}

/* As FIND, byte by byte (Knuth, Morris and Pratt): the borders say how much of the needle stands
   before a place where it goes on otherwise. No text is in progress where it stops. */
static size_t find_steadily(const uint8_t *bytes, size_t length, const struct bits_needle *needle,
                            struct bits_search *search, uint32_t *texts, size_t found,
                            size_t capacity) {
    size_t place = search->place, same = 0;
    uint32_t text = search->text, last = search->last;
    while (place < length && found < capacity) {
        if (text == last) {
            const uint8_t *end = memchr(bytes + place, BITS_END, length - place);
            place = end ? (size_t)(end - bytes) : length;
            if (!end) break;
        }
        uint8_t byte = bytes[place++];
        if (byte == BITS_END) {
            text++;
            same = 0;
            continue;
        }
        while (same > 0 && byte != needle->bytes[same]) same = needle->borders[same - 1];
        if (byte == needle->bytes[same]) same++;
        if (same < needle->length) continue;
        texts[found++] = last = text;
        same = 0;
    }
    *search = (struct bits_search){place, text, last, search->effort};
    return found;
}

#if defined(__x86_64__)
#define AGREEING_512(place, byte)                                                             \
    _mm512_cmpeq_epi8_mask(_mm512_loadu_si512(place), _mm512_set1_epi8((char)(byte)))
#define AGREEING_256(place, byte)                                                             \
    (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(                                         \
        _mm256_loadu_si256((const __m256i *)(place)), _mm256_set1_epi8((char)(byte))))
#define AGREEING_128(place, byte)                                                             \
    (uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi8(                                               \
        _mm_loadu_si128((const __m128i *)(place)), _mm_set1_epi8((char)(byte))))
FIND(find_widest, WIDEST, 64, AGREEING_512)
FIND(find_wide, WIDE, 32, AGREEING_256)
FIND(find_any, , 16, AGREEING_128)
#else
INLINE uint64_t agreeing(const uint8_t *place, uint8_t byte) {
    uint64_t bits = 0;
    for (int i = 0; i < 16; i++) bits |= (uint64_t)(place[i] == byte) << i;
    return bits;
}
FIND(find_any, , 16, agreeing)
#endif

size_t bits_find(const uint8_t *bytes, size_t length, const struct bits_needle *needle,
                 struct bits_search *search, uint32_t *texts, size_t capacity) {
    CHOOSE(find, bytes, length, needle, search, texts, capacity);
}
