#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

/* Opens what a shell closed by `<&-` or `>&-`, before the runtime takes one of the numbers for its own use. What
   reads such an input, or writes to such an output, still gets EBADF; an error goes nowhere. The lowest free number is
   always the one that is looked at. */
__attribute__((constructor)) static void open_standard(void) {
    static const int modes[] = {O_WRONLY, O_RDONLY, O_WRONLY};
    for (int number = 0; number < 3; number++) {
        if (fcntl(number, F_GETFD) >= 0 || errno != EBADF) continue;
        if (open("/dev/null", modes[number]) < 0) return;
    }
}
