#include <stddef.h>

/* The C library has these, and shows them to those alone who define _GNU_SOURCE, which Swift does not.
   A thread's processors: one bit each, beginning with the lowest of the first byte. */
int sched_getaffinity(int thread, size_t bytes, void *processors);
int sched_setaffinity(int thread, size_t bytes, const void *processors);
