// Clocks, and histograms of how long things took.
#include "peerbench.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static uint64_t read_clock(clockid_t clock) {
    struct timespec t;
    if (clock_gettime(clock, &t)) return 0;
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

uint64_t now_ns(void) { return read_clock(CLOCK_MONOTONIC); }
uint64_t own_cpu_ns(void) { return read_clock(CLOCK_PROCESS_CPUTIME_ID); }

// All threads of all servers, those that have ended included.
uint64_t server_cpu_ns(void) {
    uint64_t total = 0;
    for (const char *p = options.servers; *p;) {
        clockid_t clock;
        if (!clock_getcpuclockid((pid_t)atoi(p), &clock)) total += read_clock(clock);
        if (!(p = strchr(p, ','))) break;
        p++;
    }
    return total;
}

void nap(double seconds) {
    time_t whole = (time_t)seconds;
    struct timespec t = {whole, (long)((seconds - (double)whole) * 1e9)};
    nanosleep(&t, NULL);
}

void histogram_add(Histogram *h, uint64_t value) {
    int octave = value < 128 ? 0 : 63 - __builtin_clzll(value) - 6;
    int step = value < 128 ? (int)value : octave * 128 + (int)((value >> (octave - 1)) & 127);
    h->steps[step]++;
    h->count++;
    h->sum += value;
    if (value > h->largest) h->largest = value;
}

static double quantile_us(const Histogram *h, double q) {
    if (!h->count) return 0;
    uint64_t wanted = (uint64_t)(q * (double)(h->count - 1)), passed = 0;
    for (int i = 0; i < HISTOGRAM_STEPS; i++) {
        passed += h->steps[i];
        if (passed <= wanted) continue;
        if (i < 128) return i / 1e3;
        int octave = i / 128;
        uint64_t low = ((uint64_t)(i % 128) + 128) << (octave - 1);
        return ((double)low + (double)(1ull << (octave - 1)) / 2) / 1e3;
    }
    return (double)h->largest / 1e3;
}

void print_latency(const Histogram *h) {
    printf(",\"n\":%" PRIu64 ",\"p50_us\":%.2f,\"p99_us\":%.2f,\"p999_us\":%.2f,\"max_us\":%.1f,"
           "\"mean_us\":%.2f",
           h->count, quantile_us(h, .5), quantile_us(h, .99), quantile_us(h, .999),
           (double)h->largest / 1e3,
           h->count ? (double)h->sum / (double)h->count / 1e3 : 0);
}
