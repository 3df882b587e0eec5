// req: request and reply, so many outstanding on each of so many connections, all in one thread.
#include "peerbench.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>

static Connection **connections;
static uint8_t *out;
static int watch;
static uint64_t asked, answered, failed, reply_bytes;
static bool counts;
static Histogram histogram;
static char complaint[200];

static void ask(Connection *c, int count) {
    size_t length = 0;
    uint64_t now = now_ns();
    for (int i = 0; i < count; i++) {
        length += protocol->make(c, out + length, asked++, now);
        c->asked[c->asked_head++ % (unsigned)options.depth] = now;
    }
    put(c->fd, out, length);
}

static void watch_connection(Connection *c) {
    struct epoll_event e = {.events = EPOLLIN, .data.ptr = c};
    epoll_ctl(watch, EPOLL_CTL_ADD, c->fd, &e);
}

static void open_connections(void) {
    size_t depth = (size_t)options.depth;
    out = malloc(depth * message_room());
    connections = calloc((size_t)options.connections, sizeof *connections);
    watch = epoll_create1(0);
    for (int i = 0; i < options.connections; i++) {
        Connection *c = connections[i] = connection_new(i);
        protocol->open(c);
        c->asked = calloc(depth, sizeof *c->asked);
        watch_connection(c);
    }
}

static void count_reply(Connection *c, const Message *m, uint64_t now) {
    if (m->kind == FAILURE && !failed++)
        snprintf(complaint, sizeof complaint, "%.*s", (int)m->count, m->bytes);
    uint64_t then = c->asked[c->asked_tail++ % (unsigned)options.depth];
    answered++;
    if (!counts) return;
    histogram_add(&histogram, now - then);
    reply_bytes += m->count;
}

// Takes all replies that are whole, and asks as many times again.
static void take_replies(Connection *c) {
    uint64_t now = now_ns();
    int taken = 0;
    bool closes = false;
    for (;;) {
        Message m = {0};
        size_t used = protocol->parse(c, c->in + c->start, c->end - c->start, &m);
        if (!used) break;
        if (m.kind == ACKNOWLEDGEMENT || m.kind == FAILURE) {
            if (c->asked_tail == c->asked_head) die("a reply that nobody waits for");
            count_reply(c, &m, now);
            taken++;
        }
        closes |= m.closes;
        c->start += used;
    }
    if (closes) {
        connection_renew(c);
        watch_connection(c);
    }
    if (taken) ask(c, taken);
}

static void serve_turn(void) {
    struct epoll_event ready[128];
    bool single = options.connections == 1;
    int n = 1;
    if (single) ready[0].data.ptr = connections[0];
    else n = epoll_wait(watch, ready, 128, 5000);
    if (n <= 0) die("no reply within five seconds");
    for (int i = 0; i < n; i++) {
        Connection *c = ready[i].data.ptr;
        int got = fill(c, single);
        if (got < 0) die("cut off by the server");
        if (got) take_replies(c);
    }
}

static void print_result(double seconds, double replies, uint64_t server, uint64_t own) {
    print_head("req");
    printf(",\"connections\":%d,\"depth\":%d,\"per_s\":%.2f,\"fails\":%" PRIu64
           ",\"reply_bytes\":%.0f,\"next\":%" PRIu64, options.connections, options.depth,
           replies / seconds, failed, (double)reply_bytes / replies, asked + options.first);
    print_latency(&histogram);
    printf(",\"server_cpu_us\":%.3f,\"client_cpu_us\":%.3f}\n", (double)server / 1e3 / replies,
           (double)own / 1e3 / replies);
    if (failed) fprintf(stderr, "peerbench: the first failure: %s\n", complaint);
}

int measure_requests(void) {
    open_connections();
    uint64_t start = now_ns(), from = start + (uint64_t)(options.warm_up * 1e9), now = start;
    uint64_t end = from + (uint64_t)(options.seconds * 1e9);
    uint64_t server = server_cpu_ns(), own = own_cpu_ns(), before = 0;
    for (int i = 0; i < options.connections; i++) ask(connections[i], options.depth);
    while (now < end && !(options.count && answered >= options.count)) {
        serve_turn();
        now = now_ns();
        if (counts || now < from) continue;
        server = server_cpu_ns(), own = own_cpu_ns(), before = answered;
        counts = true;
        start = now_ns();
    }
    double replies = answered > before ? (double)(answered - before) : 1;
    print_result((double)(now - start) / 1e9, replies, server_cpu_ns() - server,
                 own_cpu_ns() - own);
    return failed ? 1 : 0;
}
