#define _GNU_SOURCE

#include "CProcess.h"

#include <execinfo.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

static const struct {
    int number;
    const char *name;
} crashes[] = {
    {SIGILL, "SIGILL"}, {SIGTRAP, "SIGTRAP"}, {SIGSEGV, "SIGSEGV"},
    {SIGBUS, "SIGBUS"}, {SIGFPE, "SIGFPE"},   {SIGABRT, "SIGABRT"},
};
enum { crash_count = sizeof crashes / sizeof *crashes, frames = 24 };

/* What was said and is not on its way yet: written by one thread, and read once it has crashed. */
static struct {
    char bytes[16 << 10];
    volatile size_t count;
} words;

static volatile pid_t busy_thread;

/* Where the handler runs on that thread, whose own stack may be what is used up. A backtrace needs some room. */
static char stack[256 << 10] __attribute__((aligned(16)));

void process_note_words(const char *bytes, size_t count) {
    if (count + 1 > sizeof words.bytes - words.count) {
        // The last ones matter.
        words.count = 0;
        if (count + 1 > sizeof words.bytes) count = sizeof words.bytes - 1;
    }
    size_t end = words.count;
    memcpy(words.bytes + end, bytes, count);
    words.bytes[end + count] = '\n';
    words.count = end + count + 1;
}

void process_forget_words(void) { words.count = 0; }

static struct {
    int descriptor;
    const char *const volatile *text;
} note = {.descriptor = -1};

/* What the thread was calling that ends the process. */
static void write_note(void) {
    if (note.descriptor < 0 || syscall(SYS_gettid) != busy_thread) return;
    const char *text = *note.text;
    if (text) (void)!pwrite(note.descriptor, text, strlen(text), 0);
}

void process_note_crashes(int descriptor, const char *const *text) {
    note.text = text;
    note.descriptor = descriptor;
    atexit(write_note);
}

static void put(const char *text) { (void)!write(STDERR_FILENO, text, strlen(text)); }

/* Handlers that were there before: the Swift runtime's prints more than ours. */
static struct sigaction others[crash_count];

/* Has the handler that was there before do what it does; 0: there was none. */
static int pass_on(int number, const siginfo_t *info) {
    for (int i = 0; i < crash_count; i++) {
        if (crashes[i].number != number || others[i].sa_handler == SIG_DFL) continue;
        sigaction(number, &others[i], NULL);
        // A fault happens again by itself.
        if (info->si_code <= 0) raise(number);
        return 1;
    }
    return 0;
}

/* Nothing but calls that a handler may make. */
static void handle(int number, siginfo_t *info, void *context) {
    (void)context;
    // Whoever asks what this process is at means the thread that works.
    if (number == SIGABRT && info->si_code == SI_USER && busy_thread
        && syscall(SYS_gettid) != busy_thread) {
        syscall(SYS_tgkill, getpid(), busy_thread, SIGABRT);
        return;
    }
    write_note();
    if (words.count > 0) (void)!write(STDERR_FILENO, words.bytes, words.count);
    if (pass_on(number, info)) return;
    signal(number, SIG_DFL);
    for (int i = 0; i < crash_count; i++) {
        if (crashes[i].number != number) continue;
        put("ended by ");
        put(crashes[i].name);
        put(" at\n");
    }
    void *addresses[frames];
    int count = backtrace(addresses, frames);
    // The first two are this function and the signal's own.
    if (count > 2) backtrace_symbols_fd(addresses + 2, count - 2, STDERR_FILENO);
    // It is blocked until this handler is left; a fault happens again by itself.
    raise(number);
}

void process_handle_crashes(void) {
    busy_thread = (pid_t)syscall(SYS_gettid);
    // Threads that libdispatch starts, and all that these start, have it blocked.
    sigset_t aborts;
    sigemptyset(&aborts);
    sigaddset(&aborts, SIGABRT);
    pthread_sigmask(SIG_UNBLOCK, &aborts, NULL);
    stack_t own = {.ss_sp = stack, .ss_size = sizeof stack};
    sigaltstack(&own, NULL);
    // The first call loads a library, which a handler may not.
    void *first[1];
    (void)!backtrace(first, 1);
    for (int i = 0; i < crash_count; i++) {
        struct sigaction before, action = {.sa_sigaction = handle, .sa_flags = SA_SIGINFO | SA_ONSTACK};
        if (sigaction(crashes[i].number, NULL, &before) != 0) continue;
        others[i] = before;
        sigemptyset(&action.sa_mask);
        sigaction(crashes[i].number, &action, NULL);
    }
}

int process_limit_memory(int process, uint64_t bytes) {
    struct rlimit limit = {.rlim_cur = bytes, .rlim_max = bytes};
    return prlimit(process, RLIMIT_DATA, &limit, NULL);
}
