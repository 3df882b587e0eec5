#define _GNU_SOURCE

#include "CProcess.h"

#include <signal.h>
#include <sys/prctl.h>

int process_close_from(posix_spawn_file_actions_t *actions, int first) {
    return posix_spawn_file_actions_addclosefrom_np(actions, first);
}

int process_end_with_parent(void) { return prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0); }
