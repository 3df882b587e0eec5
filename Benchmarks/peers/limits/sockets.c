// What Unix sockets cost.
#include "limits.h"

#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define SIZE 256

static void pin(int cpu) {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    sched_setaffinity(0, sizeof set, &set);
}

// False: the other end is gone.
static bool transfer(int fd, char *bytes, size_t count, bool reads) {
    while (count) {
        ssize_t n = reads ? read(fd, bytes, count) : write(fd, bytes, count);
        if (n <= 0) return false;
        bytes += n;
        count -= (size_t)n;
    }
    return true;
}

static pid_t fork_child(void) {
    pid_t child = fork();
    if (child < 0) die("fork");
    if (!child) prctl(PR_SET_PDEATHSIG, SIGKILL);
    return child;
}

int ping_pong(double seconds, const char *cores) {
    int pair[2];
    char bytes[SIZE] = {0};
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair)) die("socketpair");
    pin(0);
    pid_t child = fork_child();
    if (!child) {
        close(pair[0]);
        if (!strcmp(cores, "split")) pin(1);
        while (transfer(pair[1], bytes, SIZE, true) && transfer(pair[1], bytes, SIZE, false)) {}
        _exit(0);
    }
    close(pair[1]);
    uint64_t then = now_ns(), end = then + (uint64_t)(seconds * 1e9);
    while (then < end) {
        if (!transfer(pair[0], bytes, SIZE, false) || !transfer(pair[0], bytes, SIZE, true))
            die("the other process");
        uint64_t now = now_ns();
        keep_sample(now - then);
        then = now;
    }
    close(pair[0]);
    waitpid(child, NULL, 0);
    print_samples("ping-pong", cores, seconds);
    return 0;
}

// ---- fan-out: the reader gives a byte back for each 32 messages that all have

#define CREDIT 32

static _Noreturn void read_all(int (*pairs)[2], int readers, int back) {
    static char bytes[1 << 18];
    int poll = epoll_create1(0);
    for (int i = 0; i < readers; i++) {
        close(pairs[i][0]);
        struct epoll_event e = {.events = EPOLLIN, .data.fd = pairs[i][1]};
        epoll_ctl(poll, EPOLL_CTL_ADD, pairs[i][1], &e);
    }
    uint64_t got = 0, step = (uint64_t)SIZE * (uint64_t)readers * CREDIT;
    for (;;) {
        struct epoll_event ready[128];
        int n = epoll_wait(poll, ready, 128, -1);
        for (int i = 0; i < n; i++) {
            ssize_t count = read(ready[i].data.fd, bytes, sizeof bytes);
            if (count <= 0) _exit(0);
            got += (uint64_t)count;
        }
        for (; got >= step; got -= step)
            if (write(back, "", 1) != 1) _exit(0);
    }
}

static uint64_t write_all(int (*pairs)[2], int readers, uint64_t chunk, int back, uint64_t end) {
    char *bytes = calloc(chunk, SIZE);
    uint64_t messages = 0, credit = 2 * CREDIT;
    while (now_ns() < end) {
        while (credit < chunk) {
            char tokens[16];
            ssize_t n = read(back, tokens, sizeof tokens);
            if (n <= 0) die("the reader");
            credit += CREDIT * (uint64_t)n;
        }
        for (int i = 0; i < readers; i++)
            if (!transfer(pairs[i][0], bytes, SIZE * chunk, false)) die("the reader");
        messages += chunk;
        credit -= chunk;
    }
    free(bytes);
    return messages;
}

int fan_out(double seconds, int readers, uint64_t chunk) {
    int(*pairs)[2] = calloc((size_t)readers, sizeof *pairs), back[2];
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, back)) die("socketpair");
    for (int i = 0; i < readers; i++)
        if (socketpair(AF_UNIX, SOCK_STREAM, 0, pairs[i])) die("socketpair");
    pid_t child = fork_child();
    if (!child) {
        close(back[0]);
        read_all(pairs, readers, back[1]);
    }
    for (int i = 0; i < readers; i++) close(pairs[i][1]);
    close(back[1]);
    uint64_t end = now_ns() + (uint64_t)(seconds * 1e9);
    uint64_t messages = write_all(pairs, readers, chunk, back[0], end);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    double rate = (double)messages * readers / seconds;
    printf("{\"what\":\"fan-out\",\"readers\":%d,\"delivered_per_s\":%.0f}\n", readers, rate);
    return 0;
}
