// Stream sockets, over which every protocol is spoken without a library.
#include "peerbench.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

void die(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    fprintf(stderr, "peerbench: ");
    vfprintf(stderr, format, arguments);
    fprintf(stderr, errno ? " (%s)\n" : "\n", strerror(errno));
    va_end(arguments);
    exit(2);
}

static int dial_unix(const char *path) {
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    snprintf(a.sun_path, sizeof a.sun_path, "%s", path);
    if (connect(fd, (struct sockaddr *)&a, sizeof a)) die("connect to %s", path);
    return fd;
}

static int dial_tcp(const char *address) {
    char host[128];
    snprintf(host, sizeof host, "%s", address);
    char *colon = strrchr(host, ':');
    if (!colon) die("no port in %s", address);
    *colon = 0;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), one = 1;
    struct sockaddr_in a = {
        .sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(colon + 1))};
    inet_pton(AF_INET, host, &a.sin_addr);
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    if (connect(fd, (struct sockaddr *)&a, sizeof a)) die("connect to %s", address);
    return fd;
}

static int dial(void) {
    if (!strncmp(options.address, "unix:", 5)) return dial_unix(options.address + 5);
    if (!strncmp(options.address, "tcp:", 4)) return dial_tcp(options.address + 4);
    die("%s is neither unix:PATH nor tcp:HOST:PORT", options.address);
}

Connection *connection_new(int index) {
    Connection *c = calloc(1, sizeof *c);
    c->index = index;
    c->room = 256 * 1024;
    c->in = malloc(c->room);
    c->fd = dial();
    return c;
}

void connection_renew(Connection *c) {
    close(c->fd);
    c->start = c->end = 0;
    c->fd = dial();
}

void put(int fd, const void *bytes, size_t count) {
    const uint8_t *rest = bytes;
    while (count) {
        ssize_t sent = send(fd, rest, count, MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR) continue;
        if (sent < 0) die("send");
        rest += sent;
        count -= (size_t)sent;
    }
}

static void make_room(Connection *c) {
    if (c->start == c->end) {
        c->start = c->end = 0;
    } else if (c->room - c->end < 4096) {
        memmove(c->in, c->in + c->start, c->end - c->start);
        c->end -= c->start;
        c->start = 0;
        if (c->room - c->end < 65536) c->in = realloc(c->in, c->room *= 2);
    }
}

int fill(Connection *c, bool wait) {
    make_room(c);
    for (;;) {
        ssize_t got = recv(c->fd, c->in + c->end, c->room - c->end, wait ? 0 : MSG_DONTWAIT);
        if (got > 0) {
            c->end += (size_t)got;
            return 1;
        }
        if (got == 0 || errno == ECONNRESET) return -1;
        if (errno == EAGAIN) return 0;
        if (errno != EINTR) die("recv");
    }
}

void await_line(Connection *c, const char *prefix) {
    for (;;) {
        uint8_t *line = c->in + c->start, *end = memchr(line, '\n', c->end - c->start);
        if (!end) {
            if (fill(c, true) != 1) die("closed while waiting for %s", prefix);
            continue;
        }
        bool found = !strncmp((char *)line, prefix, strlen(prefix));
        c->start = (size_t)(end - c->in) + 1;
        if (found) return;
    }
}
