// D-Bus: signals with one match rule a subscriber, and org.freedesktop.DBus.Peer.Ping.
#include "peerbench.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define BUS "org.freedesktop.DBus"
#define BUS_PATH "/org/freedesktop/DBus"
enum { CALL = 1, RETURN = 2, SIGNAL = 4 };

typedef struct {
    uint8_t bytes[8192];
    size_t count, body;
} Frame;
static Frame prepared;
static uint32_t last_serial = 1;

static size_t align8(size_t n) { return (n + 7) / 8 * 8; }

static size_t add_field(uint8_t *b, size_t at, uint8_t code, char type, const char *value) {
    uint32_t length = (uint32_t)strlen(value);
    at = align8(at);
    uint8_t head[] = {code, 1, (uint8_t)type, 0};
    memcpy(b + at, head, sizeof head);
    at += sizeof head;
    size_t width = type == 'g' ? 1 : 4;
    memcpy(b + at, &length, width);
    memcpy(b + at + width, value, length + 1);
    return at + width + length + 1;
}

// A message from this machine (little-endian), whose body is no more than a text.
static void build(Frame *f, uint8_t type, const char *interface, const char *path,
                  const char *member, const char *text) {
    memset(f, 0, sizeof *f);
    uint8_t head[] = {'l', type, type == SIGNAL, 1};
    memcpy(f->bytes, head, sizeof head);
    size_t at = add_field(f->bytes, 16, 1, 'o', path);
    at = add_field(f->bytes, at, 2, 's', interface);
    at = add_field(f->bytes, at, 3, 's', member);
    if (type == CALL) at = add_field(f->bytes, at, 6, 's', BUS);
    if (text) at = add_field(f->bytes, at, 8, 'g', "s");
    uint32_t length = text ? (uint32_t)strlen(text) : 0;
    uint32_t fields = (uint32_t)(at - 16), body = text ? length + 5 : 0;
    memcpy(f->bytes + 4, &body, 4);
    memcpy(f->bytes + 12, &fields, 4);
    at = align8(at);
    f->body = at + 4;
    f->count = at + body;
    if (text) {
        memcpy(f->bytes + at, &length, 4);
        memcpy(f->bytes + f->body, text, length);
    }
}

void dbus_prepare(void) {
    if (protocol == &dbus_bus)
        build(&prepared, SIGNAL, "bench.Bus", "/bench", "Event", (const char *)payload);
    else
        build(&prepared, CALL, BUS ".Peer", BUS_PATH, "Ping", NULL);
}

static size_t parse(Connection *c, const uint8_t *p, size_t n, Message *m) {
    (void)c;
    if (n < 16) return 0;
    uint32_t body, fields;
    memcpy(&body, p + 4, 4);
    memcpy(&fields, p + 12, 4);
    size_t total = align8(16 + fields) + body;
    if (n < total) return 0;
    // The bus greets with a signal of its own, which is shorter than any payload.
    if (p[1] == SIGNAL) m->kind = body > 32 ? DELIVERY : SKIPPED;
    else m->kind = p[1] == RETURN ? ACKNOWLEDGEMENT : FAILURE;
    m->bytes = p + total - body + 4;
    m->count = body >= 5 ? body - 5 : 0;
    return total;
}

static void call(Connection *c, const char *member, const char *text) {
    Frame f;
    uint32_t serial = ++last_serial;
    build(&f, CALL, BUS, BUS_PATH, member, text);
    memcpy(f.bytes + 8, &serial, 4);
    put(c->fd, f.bytes, f.count);
    for (;;) {
        Message m = {0};
        size_t used = parse(c, c->in + c->start, c->end - c->start, &m);
        c->start += used;
        if (!used && fill(c, true) != 1) die("dbus: closed before the reply to %s", member);
        if (used && m.kind == FAILURE) die("dbus: %s is refused", member);
        if (used && m.kind == ACKNOWLEDGEMENT) return;
    }
}

static void hello(Connection *c) {
    char user[16], text[80] = {0};
    sprintf(user, "%u", getuid());
    int n = 1 + sprintf(text + 1, "AUTH EXTERNAL ");
    for (char *p = user; *p; p++) n += sprintf(text + n, "%02x", *p);
    n += sprintf(text + n, "\r\n");
    put(c->fd, text, (size_t)n);
    await_line(c, "OK");
    put(c->fd, "BEGIN\r\n", 7);
    call(c, "Hello", NULL);
}

static void subscribe(Connection *c) { call(c, "AddMatch", "type='signal',interface='bench.Bus'"); }

static size_t make(Connection *c, uint8_t *out, uint64_t sequence, uint64_t time) {
    (void)c;
    uint32_t serial = (uint32_t)sequence + 100;
    memcpy(out, prepared.bytes, prepared.count);
    memcpy(out + 8, &serial, 4);
    if (prepared.bytes[1] == SIGNAL) stamp(out + prepared.body, sequence, time);
    return prepared.count;
}

const Protocol dbus_bus = {
    .name = "dbus", .open = hello, .subscribe = subscribe, .make = make, .parse = parse};
const Protocol dbus_ping = {
    .name = "dbus-ping", .open = hello, .make = make, .parse = parse, .replies = true};
