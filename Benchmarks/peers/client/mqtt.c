// MQTT 3.1.1, quality of service 0.
#include "peerbench.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static void await(Connection *c, uint8_t type, const char *what) {
    while (c->end - c->start < 4)
        if (fill(c, true) != 1) die("mqtt: closed before %s", what);
    if (c->in[0] != type || (type == 0x20 && c->in[3])) die("mqtt: no %s", what);
    c->start = c->end = 0;
}

static void hello(Connection *c) {
    static int made;
    char name[24];
    int n = sprintf(name, "pb%d-%d", getpid() % 100000, made++);
    uint8_t head[14] = {
        0x10, (uint8_t)(12 + n), 0, 4, 'M', 'Q', 'T', 'T', 4, 2, 0, 0, 0, (uint8_t)n};
    put(c->fd, head, sizeof head);
    put(c->fd, name, (size_t)n);
    await(c, 0x20, "CONNACK");
}

static void subscribe(Connection *c) {
    uint8_t call[] = {0x82, 8, 0, 1, 0, 3, 'b', 'u', 's', 0};
    put(c->fd, call, sizeof call);
    await(c, 0x90, "SUBACK");
}

static size_t parse(Connection *c, const uint8_t *p, size_t n, Message *m) {
    (void)c;
    size_t length = 0, at = 1;
    for (int shift = 0;; shift += 7) {
        if (at >= n) return 0;
        length |= (size_t)(p[at] & 127) << shift;
        if (!(p[at++] & 128)) break;
    }
    if (n < at + length) return 0;
    m->kind = SKIPPED;
    if (p[0] >> 4 == 3) {
        size_t topic = (size_t)p[at] << 8 | p[at + 1];
        m->kind = DELIVERY;
        m->bytes = p + at + 2 + topic;
        m->count = length - 2 - topic;
    }
    return at + length;
}

static size_t publish(Connection *c, uint8_t *out, uint64_t sequence, uint64_t time) {
    (void)c;
    size_t at = 1, length = 5 + (size_t)options.size;
    out[0] = 0x30;
    for (; length > 127; length >>= 7) out[at++] = (uint8_t)(length & 127) | 128;
    out[at++] = (uint8_t)length;
    memcpy(out + at, "\0\3bus", 5);
    memcpy(out + at + 5, payload, (size_t)options.size);
    stamp(out + at + 5, sequence, time);
    return at + 5 + (size_t)options.size;
}

const Protocol mqtt_bus = {
    .name = "mqtt", .open = hello, .subscribe = subscribe, .make = publish, .parse = parse};
