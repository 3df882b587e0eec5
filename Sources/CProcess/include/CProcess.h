#ifndef ATRIUM_CPROCESS_H
#define ATRIUM_CPROCESS_H

#include <spawn.h>
#include <stddef.h>
#include <stdint.h>

/* What a process asks of the kernel for itself and for its children, by functions that Swift can't
   call: the C library's headers hide them from it, or they take any number of arguments. */

/// Has the child that is spawned start without any descriptor from `first` on.
int process_close_from(posix_spawn_file_actions_t *actions, int first);

/// Has the kernel kill this process when the thread that started it is gone; kept with the calling
/// thread.
int process_end_with_parent(void);

/// Starts a program with a socket as its descriptor 3 and no other but the standard ones, in a folder, without
/// the signals that the caller blocks. The kernel kills it when the thread that starts it is gone. Its process's id, or
/// what the system says, negated.
int process_start_program(const char *path, const char *folder, char *const *words, int socket);

/// A descriptor that becomes readable when a process has ended, which started programs don't inherit; negative if there is
/// none.
int process_watch(int process);

/// Gives memory that was freed, but is kept for what comes, back to the kernel. It looks at what is free alone; a thread
/// that allocates meanwhile may wait for some milliseconds.
void process_return_memory(void);

/// Whether the calling thread is the only one of this process.
int process_has_one_thread(void);

/// Gives up all that only root may; 0, or what the system says.
int process_drop_capabilities(void);

/// Which version of Landlock the kernel has; 0: none.
int process_landlock_version(void);

/// What a version of Landlock watches over, a bit for each right to a file.
uint64_t process_landlock_rights(int version);

/// Whether the kernel takes a filter of calls, and this machine's calls are known here.
int process_knows_filters(void);

/// Lets this process, and all that it starts, from now on read these files and what is in these
/// folders and no others, execute what is among the programs, and write to nothing; where Landlock is
/// new enough, signal nobody else and connect to no abstract socket. Paths that are not there are passed
/// over. Asks no more of Landlock than the version knows; does nothing with version 0. 0, or what the system
/// says.
int process_wall_files(int version, const char *const *programs, size_t program_count,
                       const char *const *files, size_t file_count);

/// Denies this process, and all that it starts, the calls that lead to others: sockets (but those of the
/// internet, where it may), signals, tracing, queues of calls, namespaces, and changes to files by their
/// path. What the version of Landlock leaves open is closed here. Does nothing where there are no filters. 0,
/// or what the system says.
int process_wall_calls(int version, int allows_network);

/// How many columns of a terminal a character takes, by the locale; negative for one that has none.
int process_columns(uint32_t character);

/// Has each INT, TERM, HUP, QUIT, WINCH and TSTP be written to a descriptor as one byte, its number, in place of
/// what it would do. 0, or what the system says.
int process_write_signals(int descriptor);

/// Ends this process by a signal that ``process_write_signals`` reports, as if it had not been handled.
void process_end_by(int signal);

/// Stops this process until it is continued; at once over where nobody could, since no shell started it.
void process_stop(void);

/// Has a crash (SEGV, BUS, ILL, TRAP, FPE, ABRT) put a terminal back as it is now, and write these bytes to it,
/// before it does what it would have done. The bytes are copied, at most 256. 0, or what the system says.
int process_guard_terminal(int descriptor, const char *bytes, size_t count);

/// A crash leaves the terminal alone again.
void process_unguard_terminal(void);

/// Has a crash (ILL, TRAP, SEGV, BUS, FPE, ABRT) write what was noted with ``process_note_words``, the signal
/// and where it happened to the standard error, before it does what it would have done. An ABRT that another
/// process sends prints the words and where the calling thread is. Where another handler of crashes is installed, that
/// one prints the signal and the place.
void process_handle_crashes(void);

/// Has a crash of the calling thread, and an end of the process by its own `exit`, write a text to the begin of a file:
/// the one to which `*text` points then, unless that is null. By the thread that calls ``process_handle_crashes``.
void process_note_crashes(int descriptor, const char *const *text);

/// Notes what was said, as a line, to be written in a crash; of much the last is kept. By one thread.
void process_note_words(const char *bytes, size_t count);

/// What was noted is on its way.
void process_forget_words(void);

/// Limits how much memory a process may ask for (`RLIMIT_DATA`). 0, or negative with `errno`.
int process_limit_memory(int process, uint64_t bytes);

#endif
