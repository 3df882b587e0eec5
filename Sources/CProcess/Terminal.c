#define _GNU_SOURCE

#include "CProcess.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>
#include <wchar.h>

int process_columns(uint32_t character) { return wcwidth((wchar_t)character); }

static int signal_pipe = -1;

static void write_signal(int number) {
    int before = errno;
    unsigned char byte = (unsigned char)number;
    // Where the pipe is full the reader has enough to read.
    (void)!write(signal_pipe, &byte, 1);
    errno = before;
}

int process_write_signals(int descriptor) {
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGWINCH, SIGTSTP};
    signal_pipe = descriptor;
    struct sigaction action = {.sa_handler = write_signal, .sa_flags = SA_RESTART};
    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (sigaction(numbers[i], &action, NULL) != 0) return errno;
    return 0;
}

void process_end_by(int number) {
    sigset_t only;
    sigemptyset(&only);
    sigaddset(&only, number);
    signal(number, SIG_DFL);
    // Threads of a queue let others take signals.
    pthread_sigmask(SIG_UNBLOCK, &only, NULL);
    raise(number);
}

void process_stop(void) {
    sigset_t only, mask;
    struct sigaction before, plain = {.sa_handler = SIG_DFL};
    sigemptyset(&plain.sa_mask);
    sigemptyset(&only);
    sigaddset(&only, SIGTSTP);
    sigaction(SIGTSTP, &plain, &before);
    pthread_sigmask(SIG_UNBLOCK, &only, &mask);
    raise(SIGTSTP);
    pthread_sigmask(SIG_SETMASK, &mask, NULL);
    sigaction(SIGTSTP, &before, NULL);
}

static const int crashes[] = {SIGSEGV, SIGBUS, SIGILL, SIGTRAP, SIGFPE, SIGABRT};
enum { crash_count = sizeof crashes / sizeof *crashes };

static struct {
    struct sigaction before[crash_count];
    struct termios settings;
    int descriptor;
    volatile sig_atomic_t is_on;
    char bytes[256];
    size_t count;
} guard;

// Nothing but calls that a handler may make.
static void put_back(int number) {
    if (guard.is_on) {
        guard.is_on = 0;
        (void)!write(guard.descriptor, guard.bytes, guard.count);
        tcsetattr(guard.descriptor, TCSANOW, &guard.settings);
    }
    for (int i = 0; i < crash_count; i++)
        if (crashes[i] == number) sigaction(number, &guard.before[i], NULL);
    // It is blocked until this handler is left; a fault happens again by itself.
    raise(number);
}

int process_guard_terminal(int descriptor, const char *bytes, size_t count) {
    // A stack that ran over is left for this one.
    static char stack[64 << 10];
    stack_t other = {.ss_sp = stack, .ss_size = sizeof stack};
    sigaltstack(&other, NULL);
    if (tcgetattr(descriptor, &guard.settings) != 0) return errno;
    guard.descriptor = descriptor;
    guard.count = count < sizeof guard.bytes ? count : sizeof guard.bytes;
    memcpy(guard.bytes, bytes, guard.count);
    guard.is_on = 1;
    struct sigaction action = {.sa_handler = put_back, .sa_flags = SA_ONSTACK};
    sigemptyset(&action.sa_mask);
    for (int i = 0; i < crash_count; i++)
        if (sigaction(crashes[i], &action, &guard.before[i]) != 0) return errno;
    return 0;
}

void process_unguard_terminal(void) { guard.is_on = 0; }
