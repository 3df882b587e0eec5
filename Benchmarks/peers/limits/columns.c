// The listing's answers from plain columns in memory, by looking at every film each time.
#include "limits.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROUNDS 51
#define MOST (1 << 20)
#define PAGE 50

static uint8_t *genres, *years, *ratings;  // years since 1920, tenths of a rating
static uint16_t *durations;                // seconds
static char *folded;                       // titles, a NUL after each
static uint32_t *starts, *hits;            // hits: the films that match
static int films, matches, found;
static uint8_t wanted[256];
static const char *sought;
static int by_genre[32], by_year[256], by_rating[16], by_duration[16];
static uint32_t page[PAGE];

static int compare(const void *a, const void *b) {
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

static double median_us(void (*work)(void)) {
    uint64_t times[ROUNDS];
    for (int i = 0; i < ROUNDS; i++) {
        uint64_t start = now_ns();
        work();
        times[i] = now_ns() - start;
    }
    qsort(times, ROUNDS, sizeof *times, compare);
    return (double)times[ROUNDS / 2] / 1e3;
}

// Two genres, rating at least 7, under two hours: the number of films, and the best fifty.
static void list(void) {
    int n = 0, of_rating[128] = {0}, shown = 0;
    for (int i = 0; i < films; i++) {
        hits[n] = (uint32_t)i;
        n += wanted[genres[i]] & (ratings[i] >= 70) & (durations[i] < 7200);
    }
    for (int i = 0; i < n; i++) of_rating[ratings[hits[i]]]++;
    for (int rating = 100; rating >= 70 && shown < PAGE; rating--)
        for (int i = 0; of_rating[rating] && i < n && shown < PAGE; i++)
            if (ratings[hits[i]] == rating) page[shown++] = hits[i];
    matches = n;
}

// Each of the four counts is under every filter but its own.
static void count(void) {
    memset(by_genre, 0, sizeof by_genre), memset(by_year, 0, sizeof by_year);
    memset(by_rating, 0, sizeof by_rating), memset(by_duration, 0, sizeof by_duration);
    for (int i = 0; i < films; i++) {
        int genre = wanted[genres[i]], rating = ratings[i] >= 70, duration = durations[i] < 7200;
        by_genre[genres[i]] += rating & duration;
        by_year[years[i]] += genre & rating & duration;
        by_rating[ratings[i] / 10] += genre & duration;
        by_duration[durations[i] / 1800] += genre & rating;
    }
}

static void answer(void) {
    list();
    count();
}

static void search(void) {
    size_t length = strlen(sought);
    const char *at = folded, *end = folded + starts[films];
    int film = 0;
    found = 0;
    while ((at = memmem(at, (size_t)(end - at), sought, length))) {
        uint32_t offset = (uint32_t)(at - folded);
        int low = film, high = films;  // which title: from the next one on
        while (low + 1 < high) {
            int middle = low + (high - low) / 2;
            if (starts[middle] <= offset) low = middle;
            else high = middle;
        }
        film = low + 1;
        at = folded + starts[film];
        found++;
    }
}

static int number_of(char names[][24], int *known, const char *name) {
    int k = 0;
    while (k < *known && strcmp(names[k], name)) k++;
    if (k == *known) snprintf(names[(*known)++], 24, "%s", name);
    return k;
}

static void load(const char *path) {
    const char *sql = "SELECT genre, rating, duration, year, fold FROM movies ORDER BY id";
    char names[32][24];
    int known = 0;
    uint32_t at = 0;
    sqlite3 *database;
    sqlite3_stmt *rows;
    if (sqlite3_open_v2(path, &database, SQLITE_OPEN_READONLY, NULL)) die(path);
    if (sqlite3_prepare_v2(database, sql, -1, &rows, NULL)) die(sqlite3_errmsg(database));
    genres = malloc(MOST), years = malloc(MOST), ratings = malloc(MOST), folded = malloc(64 << 20);
    durations = malloc(MOST * 2), starts = malloc((MOST + 1) * 4), hits = malloc(MOST * 4);
    for (; sqlite3_step(rows) == SQLITE_ROW && films < MOST; films++) {
        const char *name = (const char *)sqlite3_column_text(rows, 0);
        genres[films] = (uint8_t)number_of(names, &known, name);
        ratings[films] = (uint8_t)(sqlite3_column_double(rows, 1) * 10 + 0.5);
        durations[films] = (uint16_t)sqlite3_column_int(rows, 2);
        years[films] = (uint8_t)(sqlite3_column_int(rows, 3) - 1920);
        size_t length = (size_t)sqlite3_column_bytes(rows, 4) + 1;
        memcpy(folded + at, sqlite3_column_text(rows, 4), length);
        starts[films] = at;
        at += (uint32_t)length;
    }
    starts[films] = at;
    sqlite3_finalize(rows);
    sqlite3_close(database);
    for (int k = 0; k < known; k++)
        wanted[k] = !strcmp(names[k], "Drama") || !strcmp(names[k], "Comedy");
}

int scan_columns(const char *path, const char *fragment) {
    load(path);
    double answered = median_us(answer);
    int sum = 0;
    for (int i = 0; i < 256; i++) sum += by_year[i];
    sought = fragment;
    double searched = median_us(search);
    printf("{\"what\":\"scan\",\"films\":%d,\"answer_us\":%.1f,\"matches\":%d,\"search_us\":%.1f,"
           "\"found\":%d}\n", films, answered, matches, searched, found);
    return matches == sum ? 0 : 1;
}
