// A VFS that breaks what it is told to: see the header.
//
// Of each file there is a copy of what a disk would hold by now: it follows the file at each sync. Nothing is
// really synced.

#include "FaultVFS.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/// What a disk writes whole or not at all.
enum { sector = 512 };

typedef struct Image {
    unsigned char *bytes;
    size_t size;
} Image;

/// A file, whoever has it open.
typedef struct Node {
    struct Node *next;
    char *path;
    /// What was synced.
    Image synced;
} Node;

struct FaultPlan {
    struct FaultPlan *next;
    char *directory;
    Node *nodes;
    FaultKind kind;
    int64_t at, count, calls, reads;
    /// What begins to fail after so many syncs; 0: nothing does.
    FaultKind later;
    int64_t syncs;
    uint64_t random;
    int isCrashed;
    /// How many of its files are open, and whether the plan goes with the last one.
    int open, isDone;
    /// Called before a sync.
    void (*watch)(void *);
    void *watcher;
};

/// What SQLite holds of an open file; that of the VFS beneath stands right behind it.
typedef struct File {
    sqlite3_file base;
    FaultPlan *plan;
    Node *node;
} File;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static FaultPlan *plans;
static sqlite3_vfs *beneath;
static sqlite3_vfs ours;

static uint64_t next_random(uint64_t *state) {
    uint64_t mixed = *state += 0x9e3779b97f4a7c15;
    mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9;
    mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111eb;
    return mixed ^ (mixed >> 31);
}

static sqlite3_file *real(sqlite3_file *file) { return (sqlite3_file *)((File *)file + 1); }

static void load(const char *path, Image *image) {
    image->bytes = NULL;
    image->size = 0;
    int descriptor = open(path, O_RDONLY | O_CLOEXEC);
    struct stat info;
    if (descriptor >= 0 && fstat(descriptor, &info) == 0 && info.st_size > 0) {
        image->bytes = malloc((size_t)info.st_size);
        ssize_t count = pread(descriptor, image->bytes, (size_t)info.st_size, 0);
        image->size = count > 0 ? (size_t)count : 0;
    }
    if (descriptor >= 0) close(descriptor);
}

static FaultPlan *plan_of(const char *path) {
    for (FaultPlan *plan = plans; path && plan; plan = plan->next) {
        size_t length = strlen(plan->directory);
        if (strncmp(path, plan->directory, length) == 0 && path[length] == '/') return plan;
    }
    return NULL;
}

static Node *node_of(FaultPlan *plan, const char *path) {
    for (Node *node = plan->nodes; node; node = node->next) {
        if (strcmp(node->path, path) == 0) return node;
    }
    Node *node = calloc(1, sizeof(Node));
    node->path = strdup(path);
    load(path, &node->synced);
    node->next = plan->nodes;
    plan->nodes = node;
    return node;
}

/// Counts a call; what is to go wrong with it.
static FaultKind counted(FaultPlan *plan, uint64_t *random) {
    pthread_mutex_lock(&lock);
    int64_t call = plan->calls++;
    FaultKind kind = FaultNone;
    if (call >= plan->at && call - plan->at < plan->count && plan->kind != FaultRead) kind = plan->kind;
    if (kind == FaultCrash) plan->isCrashed = 1;
    if (kind == FaultKill) kill(getpid(), SIGKILL);
    if (kind == FaultKillFull) kind = FaultNone;
    if (plan->isCrashed) kind = FaultCrash;
    *random = next_random(&plan->random);
    pthread_mutex_unlock(&lock);
    return kind;
}

// Files

static void release(FaultPlan *plan) {
    while (plan->nodes) {
        Node *node = plan->nodes;
        plan->nodes = node->next;
        free(node->synced.bytes);
        free(node->path);
        free(node);
    }
    free(plan->directory);
    free(plan);
}

static int file_close(sqlite3_file *file) {
    FaultPlan *plan = ((File *)file)->plan;
    int code = real(file)->pMethods->xClose(real(file));
    pthread_mutex_lock(&lock);
    int isLast = --plan->open == 0 && plan->isDone;
    pthread_mutex_unlock(&lock);
    if (isLast) release(plan);
    return code;
}

static int file_read(sqlite3_file *file, void *bytes, int count, sqlite3_int64 offset) {
    FaultPlan *plan = ((File *)file)->plan;
    pthread_mutex_lock(&lock);
    int64_t call = plan->reads++;
    int fails = plan->kind == FaultRead && call >= plan->at && call - plan->at < plan->count;
    pthread_mutex_unlock(&lock);
    if (fails) return SQLITE_IOERR_READ;
    return real(file)->pMethods->xRead(real(file), bytes, count, offset);
}

static int file_write(sqlite3_file *file, const void *bytes, int count, sqlite3_int64 offset) {
    uint64_t random;
    sqlite3_file *under = real(file);
    switch (counted(((File *)file)->plan, &random)) {
    case FaultNone:
    case FaultLostSync: {
        int code = under->pMethods->xWrite(under, bytes, count, offset);
        if (code == SQLITE_FULL && ((File *)file)->plan->kind == FaultKillFull) kill(getpid(), SIGKILL);
        return code;
    }
    case FaultFull:
        return SQLITE_FULL;
    case FaultShort: {
        sqlite3_int64 end = offset + (sqlite3_int64)(random % (uint64_t)count);
        int part = (int)(end - end % sector - offset);
        if (part > 0) under->pMethods->xWrite(under, bytes, part, offset);
        return random & (1ull << 40) ? SQLITE_FULL : SQLITE_IOERR_WRITE;
    }
    case FaultTorn:
        for (int start = 0; start < count;) {
            int length = sector - (int)((offset + start) % sector);
            if (length > count - start) length = count - start;
            if (next_random(&random) & 1) {
                under->pMethods->xWrite(
                    under, (const char *)bytes + start, length, offset + start);
            }
            start += length;
        }
        return SQLITE_IOERR_WRITE;
    case FaultError:
    case FaultCrash:
    case FaultRead:
    case FaultKill:
    case FaultKillFull:
        return SQLITE_IOERR_WRITE;
    }
    return SQLITE_IOERR_WRITE;
}

static int file_truncate(sqlite3_file *file, sqlite3_int64 size) {
    uint64_t random;
    switch (counted(((File *)file)->plan, &random)) {
    case FaultNone:
    case FaultLostSync:
        return real(file)->pMethods->xTruncate(real(file), size);
    default:
        return SQLITE_IOERR_TRUNCATE;
    }
}

static int file_sync(sqlite3_file *file, int flags) {
    uint64_t random;
    (void)flags;
    File *own = (File *)file;
    pthread_mutex_lock(&lock);
    void (*watch)(void *) = own->plan->watch;
    void *watcher = own->plan->watcher;
    pthread_mutex_unlock(&lock);
    if (watch) watch(watcher);
    switch (counted(own->plan, &random)) {
    case FaultNone:
        pthread_mutex_lock(&lock);
        free(own->node->synced.bytes);
        load(own->node->path, &own->node->synced);
        if (own->plan->syncs > 0 && --own->plan->syncs == 0) {
            own->plan->kind = own->plan->later;
            own->plan->at = own->plan->calls;
            own->plan->count = 1;
        }
        pthread_mutex_unlock(&lock);
        return SQLITE_OK;
    case FaultLostSync:
        return SQLITE_OK;
    default:
        return SQLITE_IOERR_FSYNC;
    }
}

static int file_size(sqlite3_file *file, sqlite3_int64 *size) {
    return real(file)->pMethods->xFileSize(real(file), size);
}

static int file_lock(sqlite3_file *file, int level) {
    return real(file)->pMethods->xLock(real(file), level);
}

static int file_unlock(sqlite3_file *file, int level) {
    return real(file)->pMethods->xUnlock(real(file), level);
}

static int file_check_lock(sqlite3_file *file, int *result) {
    return real(file)->pMethods->xCheckReservedLock(real(file), result);
}

static int file_control(sqlite3_file *file, int operation, void *argument) {
    return real(file)->pMethods->xFileControl(real(file), operation, argument);
}

static int file_sector_size(sqlite3_file *file) {
    return real(file)->pMethods->xSectorSize(real(file));
}

static int file_characteristics(sqlite3_file *file) {
    return real(file)->pMethods->xDeviceCharacteristics(real(file));
}

static int file_shm_map(
    sqlite3_file *file, int page, int size, int extend, void volatile **memory) {
    return real(file)->pMethods->xShmMap(real(file), page, size, extend, memory);
}

static int file_shm_lock(sqlite3_file *file, int offset, int count, int flags) {
    return real(file)->pMethods->xShmLock(real(file), offset, count, flags);
}

static void file_shm_barrier(sqlite3_file *file) { real(file)->pMethods->xShmBarrier(real(file)); }

static int file_shm_unmap(sqlite3_file *file, int delete) {
    return real(file)->pMethods->xShmUnmap(real(file), delete);
}

static const sqlite3_io_methods methods = {
    .iVersion = 2,
    .xClose = file_close,
    .xRead = file_read,
    .xWrite = file_write,
    .xTruncate = file_truncate,
    .xSync = file_sync,
    .xFileSize = file_size,
    .xLock = file_lock,
    .xUnlock = file_unlock,
    .xCheckReservedLock = file_check_lock,
    .xFileControl = file_control,
    .xSectorSize = file_sector_size,
    .xDeviceCharacteristics = file_characteristics,
    .xShmMap = file_shm_map,
    .xShmLock = file_shm_lock,
    .xShmBarrier = file_shm_barrier,
    .xShmUnmap = file_shm_unmap,
};

// The VFS

static int vfs_open(
    sqlite3_vfs *vfs, const char *path, sqlite3_file *file, int flags, int *outFlags) {
    (void)vfs;
    pthread_mutex_lock(&lock);
    FaultPlan *plan = plan_of(path);
    // Before it is made: what was not there is not there after a power cut.
    Node *node = plan ? node_of(plan, path) : NULL;
    pthread_mutex_unlock(&lock);
    if (!plan) return beneath->xOpen(beneath, path, file, flags, outFlags);
    file->pMethods = NULL;
    int code = beneath->xOpen(beneath, path, real(file), flags, outFlags);
    if (code != SQLITE_OK) return code;
    pthread_mutex_lock(&lock);
    plan->open++;
    pthread_mutex_unlock(&lock);
    ((File *)file)->plan = plan;
    ((File *)file)->node = node;
    file->pMethods = &methods;
    return SQLITE_OK;
}

static int vfs_delete(sqlite3_vfs *vfs, const char *path, int syncDirectory) {
    (void)vfs;
    uint64_t random;
    pthread_mutex_lock(&lock);
    FaultPlan *plan = plan_of(path);
    pthread_mutex_unlock(&lock);
    if (!plan) return beneath->xDelete(beneath, path, syncDirectory);
    FaultKind kind = counted(plan, &random);
    if (kind != FaultNone && kind != FaultLostSync) return SQLITE_IOERR_DELETE;
    int code = beneath->xDelete(beneath, path, 0);
    if (code != SQLITE_OK) return code;
    pthread_mutex_lock(&lock);
    Node *node = node_of(plan, path);
    node->synced.size = 0;
    pthread_mutex_unlock(&lock);
    return SQLITE_OK;
}

static int vfs_access(sqlite3_vfs *vfs, const char *path, int flags, int *result) {
    (void)vfs;
    return beneath->xAccess(beneath, path, flags, result);
}

static int vfs_full_path(sqlite3_vfs *vfs, const char *path, int size, char *result) {
    (void)vfs;
    return beneath->xFullPathname(beneath, path, size, result);
}

static int vfs_randomness(sqlite3_vfs *vfs, int size, char *bytes) {
    (void)vfs;
    return beneath->xRandomness(beneath, size, bytes);
}

static int vfs_sleep(sqlite3_vfs *vfs, int microseconds) {
    (void)vfs;
    return beneath->xSleep(beneath, microseconds);
}

static int vfs_time(sqlite3_vfs *vfs, double *time) {
    (void)vfs;
    return beneath->xCurrentTime(beneath, time);
}

static int vfs_last_error(sqlite3_vfs *vfs, int size, char *text) {
    (void)vfs;
    return beneath->xGetLastError(beneath, size, text);
}

static int vfs_time_int64(sqlite3_vfs *vfs, sqlite3_int64 *time) {
    (void)vfs;
    return beneath->xCurrentTimeInt64(beneath, time);
}

static void install(void) {
    beneath = sqlite3_vfs_find(NULL);
    ours = (sqlite3_vfs){
        .iVersion = 2,
        .szOsFile = (int)sizeof(File) + beneath->szOsFile,
        .mxPathname = beneath->mxPathname,
        .zName = "atrium-fault",
        .xOpen = vfs_open,
        .xDelete = vfs_delete,
        .xAccess = vfs_access,
        .xFullPathname = vfs_full_path,
        .xRandomness = vfs_randomness,
        .xSleep = vfs_sleep,
        .xCurrentTime = vfs_time,
        .xGetLastError = vfs_last_error,
        .xCurrentTimeInt64 = vfs_time_int64,
    };
    sqlite3_vfs_register(&ours, 1);
}

// Plans

FaultPlan *fault_plan_make(const char *directory) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, install);
    FaultPlan *plan = calloc(1, sizeof(FaultPlan));
    plan->directory = strdup(directory);
    pthread_mutex_lock(&lock);
    plan->next = plans;
    plans = plan;
    pthread_mutex_unlock(&lock);
    return plan;
}

void fault_plan_free(FaultPlan *plan) {
    pthread_mutex_lock(&lock);
    for (FaultPlan **link = &plans; *link; link = &(*link)->next) {
        if (*link != plan) continue;
        *link = plan->next;
        break;
    }
    plan->isDone = 1;
    plan->watch = NULL;
    int isLast = plan->open == 0;
    pthread_mutex_unlock(&lock);
    if (isLast) release(plan);
}

void fault_plan_set(FaultPlan *plan, FaultKind kind, int64_t at, int64_t count, uint64_t seed) {
    pthread_mutex_lock(&lock);
    plan->kind = kind;
    plan->at = at;
    plan->count = count;
    plan->random = seed;
    pthread_mutex_unlock(&lock);
}

void fault_plan_set_after_syncs(FaultPlan *plan, FaultKind kind, int64_t syncs) {
    pthread_mutex_lock(&lock);
    plan->kind = FaultNone;
    plan->later = kind;
    plan->syncs = syncs;
    pthread_mutex_unlock(&lock);
}

void fault_plan_watch_syncs(FaultPlan *plan, void (*watch)(void *), void *watcher) {
    pthread_mutex_lock(&lock);
    plan->watch = watch;
    plan->watcher = watcher;
    pthread_mutex_unlock(&lock);
}

int fault_plan_has_failed(FaultPlan *plan) {
    pthread_mutex_lock(&lock);
    int hasFailed = plan->later != FaultNone && plan->syncs == 0 && plan->calls > plan->at;
    pthread_mutex_unlock(&lock);
    return hasFailed;
}

int64_t fault_plan_calls(FaultPlan *plan) {
    pthread_mutex_lock(&lock);
    int64_t calls = plan->calls;
    pthread_mutex_unlock(&lock);
    return calls;
}

int64_t fault_plan_reads(FaultPlan *plan) {
    pthread_mutex_lock(&lock);
    int64_t reads = plan->reads;
    pthread_mutex_unlock(&lock);
    return reads;
}

void fault_plan_crash(FaultPlan *plan) {
    pthread_mutex_lock(&lock);
    plan->isCrashed = 1;
    pthread_mutex_unlock(&lock);
}

static void cut(Node *node, uint64_t *random) {
    Image written;
    load(node->path, &written);
    Image *synced = &node->synced;
    size_t larger = written.size > synced->size ? written.size : synced->size;
    size_t size = next_random(random) & 1 ? written.size : synced->size;
    unsigned char *left = calloc(1, larger + 1);
    // Of eight sectors so many are as they were.
    uint64_t share = next_random(random) % 9;
    for (size_t start = 0; start < size; start += sector) {
        Image *from = next_random(random) % 8 < share ? synced : &written;
        if (start >= from->size) continue;
        size_t length = from->size - start < sector ? from->size - start : sector;
        memcpy(left + start, from->bytes + start, length);
    }
    int descriptor = open(node->path, O_WRONLY | O_CLOEXEC);
    if (descriptor >= 0) {
        if (pwrite(descriptor, left, size, 0) < 0 || ftruncate(descriptor, (off_t)size) < 0) abort();
        close(descriptor);
    }
    free(left);
    free(written.bytes);
}

void fault_plan_cut_power(FaultPlan *plan, uint64_t seed) {
    pthread_mutex_lock(&lock);
    for (Node *node = plan->nodes; node; node = node->next) cut(node, &seed);
    pthread_mutex_unlock(&lock);
}
