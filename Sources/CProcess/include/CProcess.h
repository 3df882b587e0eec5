#ifndef ATRIUM_CPROCESS_H
#define ATRIUM_CPROCESS_H

#include <spawn.h>

/* What a process asks of the kernel for itself and for its children, by functions that Swift can't
   call: the C library's headers hide them from it, or they take any number of arguments. */

/// Has the child that is spawned start without any descriptor from `first` on.
int process_close_from(posix_spawn_file_actions_t *actions, int first);

/// Has the kernel kill this process when the thread that started it is gone; kept with the calling
/// thread.
int process_end_with_parent(void);

#endif
