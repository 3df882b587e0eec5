// What the files of limits share; main.c says what the program does.
#pragma once
#define _GNU_SOURCE
#include <stddef.h>
#include <stdint.h>

uint64_t now_ns(void);
_Noreturn void die(const char *what);

// How long one thing took, kept one by one.
void keep_sample(uint64_t ns);
void print_samples(const char *what, const char *how, double seconds);

// Each prints a line of JSON and returns the exit status.
int ping_pong(double seconds, const char *cores);
int fan_out(double seconds, int readers, uint64_t chunk);
int sync_file(double seconds, const char *directory);
int commit_rows(double seconds, const char *directory);
int scan_columns(const char *database, const char *fragment);
