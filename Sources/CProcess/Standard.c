#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

/* Opens what a shell closed by `<&-` or `>&-`, before the runtime takes one of the numbers for its own use. Number
   0 is opened for writing and 1 for reading, so that using them still fails with EBADF; what is written to 2 is dropped.
   `open` returns the lowest free number, which is the one that the loop has come to. */
__attribute__((constructor)) static void open_standard(void) {
    static const int modes[] = {O_WRONLY, O_RDONLY, O_WRONLY};
    for (int number = 0; number < 3; number++) {
        if (fcntl(number, F_GETFD) >= 0 || errno != EBADF) continue;
        if (open("/dev/null", modes[number]) < 0) return;
    }
}
