// Publishing and subscribing: what both modes share, and the check of every delivery.
#include "peerbench.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

Connection *publisher, **subscribers;
uint64_t disorder;
Histogram *_Atomic ages;

void open_all(void) {
    publisher = connection_new(0);
    protocol->open(publisher);
    subscribers = calloc((size_t)options.subscribers, sizeof *subscribers);
    for (int i = 0; i < options.subscribers; i++) {
        subscribers[i] = connection_new(i);
        protocol->open(subscribers[i]);
        protocol->subscribe(subscribers[i]);
    }
    nap(0.05);
}

void print_head(const char *mode) {
    printf("{\"mode\":\"%s\",\"protocol\":\"%s\",\"size\":%d", mode, options.protocol,
           options.size);
}

_Noreturn static void refuse(const char *who, const Message *m) {
    die("the server said to the %s: %.*s", who, (int)(m->count > 200 ? 200 : m->count), m->bytes);
}

static void check(Connection *c, const Message *m) {
    if (protocol->follows) {
        if (!protocol->follows(c, m)) disorder++;
        return;
    }
    if (m->count != (size_t)options.size)
        die("a delivery of %zu bytes instead of %d", m->count, options.size);
    uint64_t sequence = stamped_sequence(m->bytes);
    if (sequence != c->expected) disorder++;
    c->expected = sequence + 1;
}

uint64_t take_deliveries(Connection *c) {
    uint64_t taken = 0, now = 0;
    Histogram *histogram = ages;
    for (;;) {
        Message m = {0};
        size_t used = protocol->parse(c, c->in + c->start, c->end - c->start, &m);
        if (!used) return taken;
        if (m.kind == FAILURE) refuse("subscriber", &m);
        if (m.kind == PING) put(c->fd, "PONG\r\n", 6);
        if (m.kind == DELIVERY) {
            check(c, &m);
            taken++;
            if (histogram) {
                if (!now) now = now_ns();
                histogram_add(histogram, now - stamped_time(m.bytes));
            }
        }
        c->start += used;
    }
}

uint64_t take_acknowledgements(Connection *c) {
    uint64_t taken = 0;
    for (;;) {
        Message m = {0};
        size_t used = protocol->parse(c, c->in + c->start, c->end - c->start, &m);
        if (!used) return taken;
        if (m.kind == FAILURE) refuse("publisher", &m);
        if (m.kind == PING) put(c->fd, "PONG\r\n", 6);
        if (m.kind == ACKNOWLEDGEMENT) taken++;
        c->start += used;
    }
}
