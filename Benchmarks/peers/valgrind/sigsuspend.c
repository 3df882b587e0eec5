// sigsuspend(2) with a copy of the mask: valgrind 3.19 writes to the caller's, which libdispatch has in memory that
// is only read.
#define _GNU_SOURCE
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

int sigsuspend(const sigset_t *mask) {
    // The kernel's has eight bytes, with which the C library's begins.
    unsigned long copy;
    memcpy(&copy, mask, sizeof copy);
    return (int)syscall(SYS_rt_sigsuspend, &copy, sizeof copy);
}
