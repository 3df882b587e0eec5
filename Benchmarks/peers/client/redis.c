// Redis: RESP 2.
#include "peerbench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void nothing(Connection *c) { (void)c; }

// A line, or a text with its length before it.
static size_t parse_one(const uint8_t *p, size_t n, const uint8_t **text, size_t *length) {
    const uint8_t *end = memchr(p, '\n', n);
    if (!end) return 0;
    size_t line = (size_t)(end - p) + 1;
    if (p[0] != '$') return line;
    long bytes = atol((const char *)p + 1);
    if (bytes < 0) return line;
    if (n < line + (size_t)bytes + 2) return 0;
    *text = p + line;
    *length = (size_t)bytes;
    return line + (size_t)bytes + 2;
}

static size_t parse_array(const uint8_t *p, size_t n, Message *m) {
    const uint8_t *end = memchr(p, '\n', n);
    if (!end) return 0;
    long parts = atol((const char *)p + 1);
    size_t at = (size_t)(end - p) + 1;
    for (long i = 0; i < parts; i++) {
        size_t used = at < n ? parse_one(p + at, n - at, &m->bytes, &m->count) : 0;
        if (!used) return 0;
        at += used;
    }
    m->kind = parts == 3 && p[4] == '$' && p[5] == '7' ? DELIVERY : SKIPPED;
    return at;
}

static size_t parse(Connection *c, const uint8_t *p, size_t n, Message *m) {
    (void)c;
    if (!n) return 0;
    if (p[0] == '*') return parse_array(p, n, m);
    size_t used = parse_one(p, n, &m->bytes, &m->count);
    m->kind = p[0] == '-' ? FAILURE : ACKNOWLEDGEMENT;
    m->bytes = p;
    m->count = used;
    return used;
}

static size_t command(uint8_t *out, const char *head, uint64_t sequence, uint64_t time) {
    int n = sprintf((char *)out, "%s$%d\r\n", head, options.size);
    memcpy(out + n, payload, (size_t)options.size);
    stamp(out + n, sequence, time);
    memcpy(out + n + options.size, "\r\n", 2);
    return (size_t)(n + options.size + 2);
}

static size_t publish(Connection *c, uint8_t *out, uint64_t sequence, uint64_t time) {
    (void)c;
    return command(out, "*3\r\n$7\r\nPUBLISH\r\n$3\r\nbus\r\n", sequence, time);
}

static size_t xadd(Connection *c, uint8_t *out, uint64_t sequence, uint64_t time) {
    (void)c;
    const char *head = "*5\r\n$4\r\nXADD\r\n$3\r\nlog\r\n$1\r\n*\r\n$1\r\nd\r\n";
    return command(out, head, sequence, time);
}

static size_t ping(Connection *c, uint8_t *out, uint64_t sequence, uint64_t time) {
    (void)c, (void)sequence, (void)time;
    memcpy(out, "*1\r\n$4\r\nPING\r\n", 14);
    return 14;
}

static void subscribe(Connection *c) {
    const char *call = "*2\r\n$9\r\nSUBSCRIBE\r\n$3\r\nbus\r\n";
    put(c->fd, call, strlen(call));
    if (fill(c, true) != 1) die("redis: subscribe");
    c->start = c->end = 0;
}

const Protocol redis_bus = {
    .name = "redis", .open = nothing, .subscribe = subscribe, .make = publish, .parse = parse,
    .replies = true};
const Protocol redis_ping = {
    .name = "redis-ping", .open = nothing, .make = ping, .parse = parse, .replies = true};
const Protocol redis_xadd = {
    .name = "redis-xadd", .open = nothing, .make = xadd, .parse = parse, .replies = true};
