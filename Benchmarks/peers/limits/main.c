// limits: what the machine itself allows, without any server.
//
//     limits ping-pong SECONDS same|split       two processes, 256 bytes, one message outstanding
//     limits fan-out SECONDS READERS CHUNK      256 bytes to each reader, CHUNK messages a write
//     limits sync SECONDS DIRECTORY             appending 4 KiB and fdatasync
//     limits commit SECONDS DIRECTORY           SQLite, WAL and FULL: a row of 256 bytes each
//     limits scan DATABASE FRAGMENT             the films' columns in memory, no index
#include "limits.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static uint64_t *samples;
static size_t kept, room;

uint64_t now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

void die(const char *what) {
    perror(what);
    exit(2);
}

void keep_sample(uint64_t ns) {
    if (kept == room) {
        room = room ? room * 2 : 65536;
        samples = realloc(samples, room * sizeof *samples);
    }
    samples[kept++] = ns;
}

static int compare(const void *a, const void *b) {
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

static double quantile_us(double q) {
    return kept ? (double)samples[(size_t)(q * (double)(kept - 1))] / 1e3 : 0;
}

void print_samples(const char *what, const char *how, double seconds) {
    qsort(samples, kept, sizeof *samples, compare);
    printf("{\"what\":\"%s\",\"how\":\"%s\"", what, how);
    printf(",\"p50_us\":%.2f,\"p99_us\":%.2f,\"per_s\":%.0f}\n", quantile_us(.5), quantile_us(.99),
           (double)kept / seconds);
}

int main(int argc, char **argv) {
    signal(SIGPIPE, SIG_IGN);
    const char *mode = argc > 3 ? argv[1] : "";
    double seconds = argc > 2 ? atof(argv[2]) : 0;
    if (!strcmp(mode, "ping-pong")) return ping_pong(seconds, argv[3]);
    if (!strcmp(mode, "fan-out") && argc > 4)
        return fan_out(seconds, atoi(argv[3]), (uint64_t)atol(argv[4]));
    if (!strcmp(mode, "sync")) return sync_file(seconds, argv[3]);
    if (!strcmp(mode, "commit")) return commit_rows(seconds, argv[3]);
    if (!strcmp(mode, "scan")) return scan_columns(argv[2], argv[3]);
    fprintf(stderr, "limits: see the head of main.c\n");
    return 2;
}
