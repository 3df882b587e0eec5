// Atrium's screens: a call, such as a vote, and the diffs that it makes on all that are open.
#include "peerbench.h"

#include <stdlib.h>
#include <string.h>

static void nothing(Connection *c) { (void)c; }

// The number behind a name, or -1.
static long member(const Message *m, const char *name) {
    const char *found = memmem(m->bytes, m->count, name, strlen(name));
    return found && found[strlen(name)] != 'n' ? atol(found + strlen(name)) : -1;
}

static size_t parse(Connection *c, const uint8_t *p, size_t n, Message *m) {
    size_t used = varlink_parse(c, p, n, m);
    if (used && m->kind == ACKNOWLEDGEMENT && member(m, "\"revision\":") >= 0) m->kind = DELIVERY;
    return used;
}

// A diff of one commit leads on from the last revision.
static bool follows(Connection *c, const Message *m) {
    bool right = member(m, "\"base\":") == (long)c->expected && member(m, "\"commits\":") == 1;
    c->expected = (uint64_t)member(m, "\"revision\":");
    return right;
}

static void open_screen(Connection *c) {
    static char *call;
    static size_t length;
    if (!call) call = read_file(options.screen, &length);
    put(c->fd, call, length);
    Message m = {0};
    size_t used;
    while (!(used = parse(c, c->in + c->start, c->end - c->start, &m)))
        if (fill(c, true) != 1) die("atrium: closed before the snapshot");
    if (m.kind != DELIVERY) die("atrium: %.*s", (int)m.count, m.bytes);
    c->expected = (uint64_t)member(&m, "\"revision\":");
    c->start += used;
}

const Protocol atrium_screens = {
    .name = "atrium-screens", .open = nothing, .subscribe = open_screen, .make = template_make,
    .parse = parse, .replies = true, .follows = follows};
