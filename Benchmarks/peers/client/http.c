// HTTP/1.1, requests from a template.
#include "peerbench.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

static void nothing(Connection *c) { (void)c; }

typedef struct {
    size_t length;
    bool known, chunked;
} Body;

static bool is(const uint8_t *line, const char *prefix) {
    return !strncasecmp((const char *)line, prefix, strlen(prefix));
}

static Body read_head(const uint8_t *p, const uint8_t *end, Message *m) {
    Body body = {0};
    m->closes = p[7] == '0';
    for (const uint8_t *line = p; line < end;) {
        if (is(line, "content-length:")) {
            body.length = (size_t)atol((const char *)line + 15);
            body.known = true;
        }
        if (is(line, "transfer-encoding: chunked")) body.chunked = true;
        if (is(line, "connection: close")) m->closes = true;
        line = (const uint8_t *)memchr(line, '\n', (size_t)(end + 2 - line)) + 1;
    }
    return body;
}

static size_t parse_chunks(const uint8_t *p, size_t n, size_t at, Message *m) {
    for (;;) {
        const uint8_t *line = at < n ? memchr(p + at, '\n', n - at) : NULL;
        if (!line) return 0;
        size_t chunk = strtoul((const char *)p + at, NULL, 16);
        at = (size_t)(line - p) + 1 + chunk + 2;
        if (at > n) return 0;
        m->count += chunk;
        if (!chunk) return at;
    }
}

static size_t parse(Connection *c, const uint8_t *p, size_t n, Message *m) {
    (void)c;
    const uint8_t *end = n < 16 ? NULL : memmem(p, n, "\r\n\r\n", 4);
    if (!end) return 0;
    size_t head = (size_t)(end - p) + 4;
    Body body = read_head(p, end, m);
    m->kind = p[9] == '2' ? ACKNOWLEDGEMENT : FAILURE;
    m->bytes = p + head;
    if (body.chunked) return parse_chunks(p, n, head, m);
    if (!body.known) die("http: a reply without a length");
    if (n < head + body.length) return 0;
    m->count = body.length;
    return head + body.length;
}

const Protocol http = {
    .name = "http", .open = nothing, .make = template_make, .parse = parse, .replies = true};
