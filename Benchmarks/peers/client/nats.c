// NATS, core.
#include "peerbench.h"

#include <stdio.h>
#include <string.h>

static void hello(Connection *c) {
    await_line(c, "INFO");
    const char *call = "CONNECT {\"verbose\":false,\"pedantic\":false,\"protocol\":1}\r\nPING\r\n";
    put(c->fd, call, strlen(call));
    await_line(c, "PONG");
}

static void subscribe(Connection *c) {
    const char *call = "SUB bus 1\r\nPING\r\n";
    put(c->fd, call, strlen(call));
    await_line(c, "PONG");
}

static size_t parse(Connection *c, const uint8_t *p, size_t n, Message *m) {
    (void)c;
    const uint8_t *end = memchr(p, '\n', n);
    if (!end) return 0;
    size_t line = (size_t)(end - p) + 1, length = 0;
    if (p[0] != 'M') {
        m->kind = p[0] == 'P' && p[1] == 'I' ? PING : p[0] == '-' ? FAILURE : SKIPPED;
        m->bytes = p;
        m->count = line;
        return line;
    }
    const uint8_t *digit = end - 1;
    while (digit[-1] != ' ') digit--;
    for (; *digit >= '0' && *digit <= '9'; digit++) length = length * 10 + (size_t)(*digit - '0');
    if (n < line + length + 2) return 0;
    m->kind = DELIVERY;
    m->bytes = p + line;
    m->count = length;
    return line + length + 2;
}

static size_t publish(Connection *c, uint8_t *out, uint64_t sequence, uint64_t time) {
    (void)c;
    int n = sprintf((char *)out, "PUB bus %d\r\n", options.size);
    memcpy(out + n, payload, (size_t)options.size);
    stamp(out + n, sequence, time);
    memcpy(out + n + options.size, "\r\n", 2);
    return (size_t)(n + options.size + 2);
}

const Protocol nats_bus = {
    .name = "nats", .open = hello, .subscribe = subscribe, .make = publish, .parse = parse};
