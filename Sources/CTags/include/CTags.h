#ifndef CTAGS_H
#define CTAGS_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What audio files say of themselves, read by TagLib.
 *
 * Nothing here keeps anything between two calls: files may be read on several threads at a time. No exception
 * leaves a function. */

enum tags_outcome {
    TAGS_READ,
    /* It is no audio file of a known format, or is too broken to be one. */
    TAGS_NO_AUDIO,
    /* The file asks for more memory than there is. */
    TAGS_TOO_LARGE,
    /* More than 64 MiB of it would have to be read, or 16 in small pieces. */
    TAGS_TOO_LONG,
};

struct tags_numbers {
    /* Of the sound, in milliseconds. */
    int milliseconds;
    /* Kilobits a second. */
    int bitrate;
    /* From 0 to 5 stars; -1: the file has no rating. */
    double rating;
    int has_cover;
};

/* Called for each value of a tag, under TagLib's name of it (`TITLE`, `ARTIST`). The text is UTF-8, unless the
 * file's own is not. */
typedef void (*tags_take_text)(void *context, const char *name, const char *text, size_t length);

/* Reads the tags of an audio file.
 *
 * The descriptor is of a regular file that is open to read; it is closed. The ending of its path says what format
 * to try first. */
enum tags_outcome tags_read(int descriptor, const char *path, struct tags_numbers *numbers,
                            tags_take_text take, void *context);

/* Called with a picture; the type as in `image/png`, or empty where the file does not say. */
typedef void (*tags_take_picture)(void *context, const char *type, const char *bytes, size_t length);

/* Reads the front cover of an audio file, or else its first picture: calls `take` at most once. The descriptor is
 * closed. */
enum tags_outcome tags_read_cover(int descriptor, const char *path, tags_take_picture take,
                                  void *context);

#ifdef __cplusplus
}
#endif

#endif
