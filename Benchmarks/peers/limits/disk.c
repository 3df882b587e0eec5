// What the disk allows, and SQLite on it.
#include "limits.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int sync_file(double seconds, const char *directory) {
    char path[600], page[4096];
    memset(page, 'a', sizeof page);
    snprintf(path, sizeof path, "%s/limits-sync.%d", directory, getpid());
    int fd = open(path, O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0600);
    if (fd < 0) die(path);
    uint64_t then = now_ns(), end = then + (uint64_t)(seconds * 1e9);
    while (then < end) {
        if (write(fd, page, sizeof page) != sizeof page || fdatasync(fd)) die("fdatasync");
        uint64_t now = now_ns();
        keep_sample(now - then);
        then = now;
    }
    close(fd);
    unlink(path);
    print_samples("sync", "append", seconds);
    return 0;
}

static void run_sql(sqlite3 *database, const char *sql) {
    char *error = NULL;
    if (!sqlite3_exec(database, sql, NULL, NULL, &error)) return;
    fprintf(stderr, "limits: %s: %s\n", sql, error);
    exit(2);
}

static void remove_database(const char *path) {
    static const char *const endings[] = {"", "-wal", "-shm"};
    for (int i = 0; i < 3; i++) {
        char name[640];
        snprintf(name, sizeof name, "%s%s", path, endings[i]);
        unlink(name);
    }
}

int commit_rows(double seconds, const char *directory) {
    char path[600], text[256];
    memset(text, 'x', sizeof text);
    snprintf(path, sizeof path, "%s/limits-commit.%d.db", directory, getpid());
    sqlite3 *database;
    sqlite3_stmt *insert;
    if (sqlite3_open(path, &database)) die(path);
    run_sql(database, "PRAGMA journal_mode=WAL");
    run_sql(database, "PRAGMA synchronous=FULL");
    run_sql(database, "CREATE TABLE t(id INTEGER PRIMARY KEY, body TEXT)");
    sqlite3_prepare_v2(database, "INSERT INTO t(body) VALUES(?1)", -1, &insert, NULL);
    sqlite3_bind_text(insert, 1, text, sizeof text, SQLITE_STATIC);
    uint64_t then = now_ns(), end = then + (uint64_t)(seconds * 1e9);
    while (then < end) {
        if (sqlite3_step(insert) != SQLITE_DONE) die(sqlite3_errmsg(database));
        sqlite3_reset(insert);
        uint64_t now = now_ns();
        keep_sample(now - then);
        then = now;
    }
    sqlite3_finalize(insert);
    sqlite3_close(database);
    remove_database(path);
    print_samples("commit", "wal, full", seconds);
    return 0;
}
