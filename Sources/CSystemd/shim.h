/* What libsystemd offers to Systemd. Nothing we call is variadic, so plain declarations are enough.
   Locations of log lines come from swift-log; the header's own macros would name this file. */
#define SD_JOURNAL_SUPPRESS_LOCATION
#include <systemd/sd-daemon.h>
#include <systemd/sd-journal.h>
/* Where systemd marks the cgroups that it gives away; not a part of Swift's own Glibc module. */
#include <sys/xattr.h>

/* Of the C library, which shows them only to those who define _GNU_SOURCE; off_t is long where Swift runs. */
int memfd_create(const char *name, unsigned int flags);
int fallocate(int descriptor, int mode, long offset, long length);
