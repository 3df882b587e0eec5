// lat: one message outstanding, from its publishing to the last of its deliveries, in one thread.
#include "peerbench.h"

#include <inttypes.h>
#include <stdio.h>
#include <sys/epoll.h>

static int watch_subscribers(void) {
    int poll = epoll_create1(0);
    for (int i = 0; i < options.subscribers; i++) {
        struct epoll_event e = {.events = EPOLLIN, .data.ptr = subscribers[i]};
        epoll_ctl(poll, EPOLL_CTL_ADD, subscribers[i]->fd, &e);
    }
    return poll;
}

static void await_deliveries(int poll) {
    for (uint64_t left = (uint64_t)options.subscribers; left;) {
        struct epoll_event ready[128];
        int n = 1;
        if (options.subscribers == 1) ready[0].data.ptr = subscribers[0];
        else n = epoll_wait(poll, ready, 128, 3000);
        if (n <= 0) die("a delivery did not come within three seconds");
        for (int i = 0; i < n; i++) {
            Connection *c = ready[i].data.ptr;
            if (fill(c, options.subscribers == 1) < 0) die("a subscriber was cut off");
            uint64_t taken = take_deliveries(c);
            if (taken > left) die("a message came twice");
            left -= taken;
        }
    }
}

static void await_acknowledgements(uint64_t *acknowledged, uint64_t sent) {
    while (protocol->replies && *acknowledged < sent) {
        if (fill(publisher, true) < 0) die("the publisher was cut off");
        *acknowledged += take_acknowledgements(publisher);
    }
}

int measure_latency(void) {
    static Histogram histogram;
    static uint8_t out[16384];
    open_all();
    int poll = watch_subscribers();
    uint64_t from = now_ns() + (uint64_t)(options.warm_up * 1e9);
    uint64_t end = from + (uint64_t)(options.seconds * 1e9);
    uint64_t sent = 0, before = 0, acknowledged = 0, cpu = 0, own = 0;
    for (uint64_t now; (now = now_ns()) < end;) {
        if (!cpu && now >= from) {
            cpu = server_cpu_ns() + 1, own = own_cpu_ns(), before = sent;
            now = now_ns();
        }
        size_t length = protocol->make(publisher, out, sent++, now);
        put(publisher->fd, out, length);
        await_deliveries(poll);
        if (cpu) histogram_add(&histogram, now_ns() - now);
        await_acknowledgements(&acknowledged, sent);
    }
    double deliveries = (double)(sent - before) * options.subscribers;
    cpu = server_cpu_ns() + 1 - cpu, own = own_cpu_ns() - own;
    print_head("lat");
    printf(",\"subscribers\":%d,\"disorder\":%" PRIu64, options.subscribers, disorder);
    print_latency(&histogram);
    printf(",\"server_cpu_us\":%.3f,\"client_cpu_us\":%.3f}\n", (double)cpu / 1e3 / deliveries,
           (double)own / 1e3 / deliveries);
    return disorder ? 1 : 0;
}
