// flow: how many messages pass without loss: a thread publishes, never more than a window ahead of
// the deliveries that another thread takes.
#include "peerbench.h"

#include <inttypes.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

static _Atomic uint64_t sent, delivered;
static _Atomic bool waiting, stopping, finished;
static int wake_up;

static uint64_t ahead(uint64_t of) {
    return of - atomic_load(&delivered) / (uint64_t)options.subscribers;
}

// Wakes the publisher once half of the window is free again.
static void credit(uint64_t taken) {
    if (!taken) return;
    atomic_fetch_add(&delivered, taken);
    if (!atomic_load(&waiting) || ahead(atomic_load(&sent)) > (uint64_t)options.window / 2) return;
    if (atomic_exchange(&waiting, false)) eventfd_write(wake_up, 1);
}

static bool receive(Connection *c, bool wait) {
    int got = fill(c, wait);
    if (got < 0 && !atomic_load(&finished)) die("a subscriber was cut off by the server");
    if (got > 0) credit(take_deliveries(c));
    return got >= 0;
}

static void *receive_all(void *unused) {
    (void)unused;
    if (options.subscribers == 1) {
        while (receive(subscribers[0], true)) {}
        return NULL;
    }
    int poll = epoll_create1(0);
    for (int i = 0; i < options.subscribers; i++) {
        struct epoll_event e = {.events = EPOLLIN, .data.ptr = subscribers[i]};
        epoll_ctl(poll, EPOLL_CTL_ADD, subscribers[i]->fd, &e);
    }
    while (!atomic_load(&finished)) {
        struct epoll_event ready[128];
        int n = epoll_wait(poll, ready, 128, 100);
        for (int i = 0; i < n; i++)
            if (!receive(ready[i].data.ptr, false)) return NULL;
    }
    return NULL;
}

static void drain_publisher(void) {
    int got = fill(publisher, false);
    if (got < 0) die("the publisher was cut off by the server");
    if (got) take_acknowledgements(publisher);
}

static void await_credit(uint64_t next) {
    while (ahead(next) > (uint64_t)options.window && !atomic_load(&stopping)) {
        atomic_store(&waiting, true);
        if (ahead(next) <= (uint64_t)options.window) break;
        struct pollfd ready[2] = {{wake_up, POLLIN, 0}, {publisher->fd, POLLIN, 0}};
        poll(ready, protocol->replies ? 2 : 1, 50);
        eventfd_t value;
        if (ready[0].revents) eventfd_read(wake_up, &value);
        drain_publisher();
    }
    atomic_store(&waiting, false);
}

static void *publish_all(void *unused) {
    (void)unused;
    uint64_t batch = (uint64_t)options.batch, next = 0;
    uint8_t *out = malloc((size_t)batch * message_room());
    for (;;) {
        await_credit(next + batch);
        if (atomic_load(&stopping)) break;
        size_t length = 0;
        uint64_t now = now_ns();
        for (uint64_t i = 0; i < batch; i++)
            length += protocol->make(publisher, out + length, next++, now);
        atomic_store(&sent, next);
        put(publisher->fd, out, length);
        if (protocol->replies || (next & 1023) < batch) drain_publisher();
    }
    free(out);
    return NULL;
}

typedef struct {
    uint64_t time, sent, delivered, server, own;
} Reading;

static Reading take_reading(void) {
    return (Reading){now_ns(), atomic_load(&sent), atomic_load(&delivered), server_cpu_ns(),
                     own_cpu_ns()};
}

// Everything published is awaited for three seconds: what is missing then is lost.
static uint64_t await_rest(void) {
    uint64_t all = atomic_load(&sent) * (uint64_t)options.subscribers;
    for (int i = 0; i < 300 && atomic_load(&delivered) < all; i++) {
        nap(0.01);
        drain_publisher();
    }
    // A message that comes twice comes after all the others have.
    nap(0.02);
    return all;
}

static void print_rates(const Reading *a, const Reading *b) {
    double s = (double)(b->time - a->time) / 1e9, d = (double)(b->delivered - a->delivered);
    if (d <= 0) die("nothing was delivered in %.1f s, %" PRIu64 " were sent", s, b->sent - a->sent);
    printf(",\"published_per_s\":%.0f,\"delivered_per_s\":%.0f", (double)(b->sent - a->sent) / s,
           d / s);
    printf(",\"server_cpu_us\":%.3f,\"client_cpu_us\":%.3f}\n",
           (double)(b->server - a->server) / 1e3 / d, (double)(b->own - a->own) / 1e3 / d);
}

int measure_flow(void) {
    static Histogram histogram;
    pthread_t receiver, sender;
    open_all();
    wake_up = eventfd(0, EFD_CLOEXEC);
    pthread_create(&receiver, NULL, receive_all, NULL);
    pthread_create(&sender, NULL, publish_all, NULL);
    nap(options.warm_up);
    ages = &histogram;
    Reading from = take_reading();
    nap(options.seconds);
    Reading to = take_reading();
    ages = NULL;
    atomic_store(&stopping, true);
    pthread_join(sender, NULL);
    uint64_t all = await_rest();
    atomic_store(&finished, true);
    for (int i = 0; i < options.subscribers; i++) shutdown(subscribers[i]->fd, SHUT_RDWR);
    pthread_join(receiver, NULL);
    int64_t missing = (int64_t)(all - atomic_load(&delivered));
    print_head("flow");
    printf(",\"subscribers\":%d,\"window\":%d,\"batch\":%d,\"missing\":%" PRId64
           ",\"disorder\":%" PRIu64, options.subscribers, options.window, options.batch, missing,
           disorder);
    print_latency(&histogram);
    print_rates(&from, &to);
    return missing || disorder ? 1 : 0;
}
