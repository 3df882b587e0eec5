#define _GNU_SOURCE

#include "CProcess.h"

#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* The kernel's headers may be older than the kernel. This call has the same number on every machine. */
#define NR_PIDFD_OPEN 434

extern char **environ;

int process_close_from(posix_spawn_file_actions_t *actions, int first) {
    return posix_spawn_file_actions_addclosefrom_np(actions, first);
}

void process_return_memory(void) { malloc_trim(0); }

int process_end_with_parent(void) { return prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0); }

/* What is between fork and exec: functions that are safe in a child of a process with threads. */
static void become(const char *path, const char *folder, char *const *words, int socket, int report, pid_t parent) {
    sigset_t none;
    sigemptyset(&none);
    int output = prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) == 0 && dup2(socket, 3) == 3
                       && dup3(report, 4, O_CLOEXEC) == 4
                   ? 4
                   : report;
    if (output == 4 && getppid() == parent && chdir(folder) == 0
        && sigprocmask(SIG_SETMASK, &none, NULL) == 0) {
        closefrom(5);
        execve(path, words, environ);
    }
    int code = errno;
    (void)!write(output, &code, sizeof code);
    _exit(127);
}

int process_watch(int process) { return (int)syscall(NR_PIDFD_OPEN, process, 0); }

int process_start_program(const char *path, const char *folder, char *const *words, int socket) {
    int pair[2];
    if (pipe2(pair, O_CLOEXEC) != 0) return -errno;
    // Out of the way of the numbers that the child gives away; the socket is there already.
    int report = fcntl(pair[1], F_DUPFD_CLOEXEC, 64);
    int code = report < 0 ? errno : 0;
    close(pair[1]);
    pid_t parent = getpid();
    pid_t child = code ? -1 : fork();
    if (child == 0) become(path, folder, words, socket, report, parent);
    if (child < 0 && !code) code = errno;
    if (report >= 0) close(report);
    if (child > 0) {
        ssize_t count;
        do count = read(pair[0], &code, sizeof code);
        while (count < 0 && errno == EINTR);
        if (count != sizeof code) code = 0;
        if (code) waitpid(child, NULL, 0);
    }
    close(pair[0]);
    return code ? -code : child;
}
