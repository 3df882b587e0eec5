// Requests from a file, with these words in it: %SEQUENCE%, eight digits; %HIGH% and %LOW%, its
// halves in four hexadecimal digits; %SUBJECT%, a number from 1 that goes round; %VALUE%, 1 to 5,
// another one each time round.
#include "peerbench.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *template;
static size_t template_length;

char *read_file(const char *path, size_t *length) {
    FILE *file = fopen(path, "r");
    if (!file) die("%s", path);
    char *text = calloc(1, 65536);
    *length = fread(text, 1, 65535, file);
    fclose(file);
    return text;
}

void template_load(void) { template = read_file(options.request, &template_length); }

size_t message_room(void) { return (size_t)options.size + 1024 + template_length * 2; }

// Writes what a word stands for; the word's length, or 0 where there is none of ours.
static size_t substitute(const char *word, uint64_t sequence, uint8_t **out) {
    char *at = (char *)*out;
    uint64_t subjects = options.subjects;
    size_t length = 0;
    if (!strncmp(word, "%SEQUENCE%", length = 10))
        at += sprintf(at, "%08" PRIu64, sequence);
    else if (!strncmp(word, "%HIGH%", length = 6))
        at += sprintf(at, "%04x", (unsigned)(sequence >> 16 & 65535));
    else if (!strncmp(word, "%LOW%", length = 5))
        at += sprintf(at, "%04x", (unsigned)(sequence & 65535));
    else if (!strncmp(word, "%SUBJECT%", length = 9))
        at += sprintf(at, "%" PRIu64, 1 + sequence % subjects);
    else if (!strncmp(word, "%VALUE%", length = 7))
        at += sprintf(at, "%" PRIu64, 1 + sequence / subjects % 5);
    else
        return 0;
    *out = (uint8_t *)at;
    return length;
}

size_t template_make(Connection *c, uint8_t *out, uint64_t sequence, uint64_t time) {
    (void)c, (void)time;
    uint8_t *at = out;
    const char *from = template, *end = template + template_length;
    while (from < end) {
        const char *word = memchr(from, '%', (size_t)(end - from));
        size_t plain = (size_t)((word ? word : end) - from);
        memcpy(at, from, plain);
        at += plain;
        from += plain;
        if (from == end) break;
        size_t used = substitute(from, sequence + options.first, &at);
        if (!used) *at++ = (uint8_t)*from;
        from += used ? used : 1;
    }
    return (size_t)(at - out);
}
