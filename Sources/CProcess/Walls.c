#define _GNU_SOURCE

#include "CProcess.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The kernel's headers may be older than the kernel. Calls from 424 on have the same number on every
   machine. */
#define NR_PIDFD_SEND_SIGNAL 424
#define NR_LANDLOCK_CREATE_RULESET 444
#define NR_LANDLOCK_ADD_RULE 445
#define NR_LANDLOCK_RESTRICT_SELF 446

int process_has_one_thread(void) {
    struct stat tasks;
    // A folder for each thread, its own '.' and the parent's name of it.
    return stat("/proc/self/task", &tasks) == 0 && tasks.st_nlink == 3;
}

int process_drop_capabilities(void) {
    // Only root has some, and systemd's filter for services knows no capset.
    if (geteuid() != 0) return 0;
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = {{0}};
    return syscall(SYS_capset, &header, none) == 0 ? 0 : errno;
}

/* ---- Files: Landlock ---- */

struct ruleset {
    uint64_t files;
    uint64_t network;
    uint64_t scoped;
};

struct __attribute__((packed)) path_rule {
    uint64_t allowed;
    int32_t parent;
};

#define FS_EXECUTE (1ull << 0)
#define FS_WRITE_FILE (1ull << 1)
#define FS_READ_FILE (1ull << 2)
#define FS_READ_DIR (1ull << 3)
#define FS_TRUNCATE (1ull << 14)
#define FS_IOCTL_DEVICE (1ull << 15)
/* What can be done to a file; the rest is about folders. */
#define FS_OF_FILES (FS_EXECUTE | FS_WRITE_FILE | FS_READ_FILE | FS_TRUNCATE | FS_IOCTL_DEVICE)
/* Other processes' abstract sockets, and signals to them. */
#define SCOPES 3ull

uint64_t process_landlock_rights(int version) {
    if (version >= 5) return (1ull << 16) - 1;
    if (version >= 3) return (1ull << 15) - 1;
    if (version >= 2) return (1ull << 14) - 1;
    return version >= 1 ? (1ull << 13) - 1 : 0;
}

int process_landlock_version(void) {
    long version = syscall(NR_LANDLOCK_CREATE_RULESET, NULL, 0, 1);
    return version < 0 ? 0 : (int)version;
}

static int allow(int rules, const char *path, uint64_t rights) {
    struct path_rule rule = {.parent = open(path, O_PATH | O_CLOEXEC)};
    // What is not there, or out of reach, is not to be had anyway.
    if (rule.parent < 0) return 0;
    struct stat info;
    int failed = fstat(rule.parent, &info);
    rule.allowed = S_ISDIR(info.st_mode) ? rights : rights & FS_OF_FILES;
    if (!failed) failed = (int)syscall(NR_LANDLOCK_ADD_RULE, rules, 1, &rule, 0);
    int code = errno;
    close(rule.parent);
    return failed ? code : 0;
}

static const char *const devices[] = {
    "/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom",
};

int process_wall_files(int version, const char *const *programs, size_t program_count,
                       const char *const *files, size_t file_count) {
    if (version == 0) return 0;
    uint64_t known = process_landlock_rights(version);
    struct ruleset set = {.files = known, .scoped = version >= 6 ? SCOPES : 0};
    int rules = (int)syscall(NR_LANDLOCK_CREATE_RULESET, &set, sizeof set, 0);
    if (rules < 0) return errno;
    int code = 0;
    for (size_t i = 0; i < program_count && !code; i++)
        code = allow(rules, programs[i], FS_READ_FILE | FS_READ_DIR | FS_EXECUTE);
    for (size_t i = 0; i < file_count && !code; i++)
        code = allow(rules, files[i], FS_READ_FILE | FS_READ_DIR);
    for (size_t i = 0; i < sizeof devices / sizeof *devices && !code; i++)
        code = allow(rules, devices[i], known & (FS_OF_FILES & ~FS_EXECUTE));
    if (!code && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) code = errno;
    if (!code && syscall(NR_LANDLOCK_RESTRICT_SELF, rules, 0) != 0) code = errno;
    close(rules);
    return code;
}

/* ---- Calls: seccomp ---- */

#if defined(__x86_64__)
#define MACHINE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define MACHINE AUDIT_ARCH_AARCH64
#endif

int process_knows_filters(void) {
#ifdef MACHINE
    uint32_t action = SECCOMP_RET_ERRNO;
    return syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action) == 0;
#else
    return 0;
#endif
}

#ifdef MACHINE
struct program {
    struct sock_filter lines[512];
    size_t count;
};

static void add(struct program *program, uint16_t code, uint32_t value, uint8_t yes, uint8_t no) {
    program->lines[program->count++] = (struct sock_filter)BPF_JUMP(code, value, yes, no);
}

static void answer(struct program *program, uint32_t error) {
    add(program, BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error, 0, 0);
}

static void pass(struct program *program) {
    add(program, BPF_RET | BPF_K, SECCOMP_RET_ALLOW, 0, 0);
}

static void load(struct program *program, size_t offset) {
    add(program, BPF_LD | BPF_W | BPF_ABS, (uint32_t)offset, 0, 0);
}

/* The lower half of an argument: all that the kernel looks at of an int. */
static void load_argument(struct program *program, int number) {
    load(program, offsetof(struct seccomp_data, args) + 8 * (size_t)number);
}

static void deny(struct program *program, uint32_t call, uint32_t error) {
    add(program, BPF_JMP | BPF_JEQ | BPF_K, call, 0, 1);
    answer(program, error);
}

/* Begins the lines about a call, which all end in an answer; nothing else gets to them. */
static size_t begin(struct program *program, uint32_t call) {
    add(program, BPF_JMP | BPF_JEQ | BPF_K, call, 0, 0);
    return program->count - 1;
}

static void end(struct program *program, size_t begun) {
    program->lines[begun].jf = (uint8_t)(program->count - begun - 1);
}

static void pass_if(struct program *program, uint32_t value) {
    add(program, BPF_JMP | BPF_JEQ | BPF_K, value, 0, 1);
    pass(program);
}

/* A call whose first argument says whom it is done to: this process, or nobody. */
static void only_to(struct program *program, uint32_t call, uint32_t self, int zero_is_self) {
    size_t begun = begin(program, call);
    load_argument(program, 0);
    pass_if(program, self);
    if (zero_is_self) pass_if(program, 0);
    answer(program, EPERM);
    end(program, begun);
}

static const uint32_t denied[] = {
    // Ways around the filter, and into other processes.
    425, 426, 427, /* io_uring_ setup, enter, register */
    SYS_ptrace, SYS_process_vm_readv, SYS_process_vm_writev, SYS_kcmp, SYS_move_pages,
    SYS_migrate_pages, 438 /* pidfd_getfd */, 440 /* process_madvise */, 448 /* process_mrelease */,
    SYS_ioprio_set, SYS_shmget, SYS_semget, SYS_msgget, SYS_mq_open,
    // The kernel's insides.
    SYS_perf_event_open, SYS_bpf, SYS_userfaultfd, SYS_keyctl, SYS_add_key, SYS_request_key,
    SYS_init_module, SYS_finit_module, SYS_delete_module, SYS_kexec_load, SYS_reboot, SYS_swapon,
    SYS_swapoff, SYS_acct, SYS_syslog, SYS_settimeofday, SYS_clock_settime, SYS_adjtimex,
    SYS_clock_adjtime, SYS_sethostname, SYS_setdomainname, SYS_fanotify_init,
    // What the file system looks like.
    SYS_mount, SYS_umount2, SYS_pivot_root, SYS_chroot, SYS_setns, SYS_unshare,
    SYS_open_by_handle_at, 428 /* open_tree */, 429 /* move_mount */, 430 /* fsopen */,
    431 /* fsconfig */, 432 /* fsmount */, 433 /* fspick */, 442 /* mount_setattr */,
    467 /* open_tree_attr */,
    // What Landlock does not look at, in its first versions or at all: files by their path.
    SYS_truncate, SYS_fchmod, SYS_fchmodat, 452 /* fchmodat2 */, SYS_fchown, SYS_fchownat,
    SYS_setxattr, SYS_lsetxattr, SYS_fsetxattr, SYS_removexattr, SYS_lremovexattr,
    SYS_fremovexattr, 463 /* setxattrat */, 466 /* removexattrat */, SYS_utimensat,
#ifdef __x86_64__
    SYS_chmod, SYS_chown, SYS_lchown, SYS_utime, SYS_utimes, SYS_futimesat, SYS_iopl, SYS_ioperm,
#endif
};

static void add_sockets(struct program *program, int allows_network) {
    size_t begun = begin(program, SYS_socket);
    load_argument(program, 0);
    if (allows_network) {
        pass_if(program, AF_INET);
        pass_if(program, AF_INET6);
        // Which addresses there are, for looking up names.
        pass_if(program, AF_NETLINK);
    }
    answer(program, EACCES);
    end(program, begun);
    // A pair that is a stream stays one; others can be connected anew, with anybody.
    begun = begin(program, SYS_socketpair);
    load_argument(program, 1);
    add(program, BPF_ALU | BPF_AND | BPF_K, 0xf, 0, 0);
    pass_if(program, SOCK_STREAM);
    answer(program, EACCES);
    end(program, begun);
}

/* A file is emptied as it is opened, whoever may do no more than read it, or, with an access mode that is
   neither, nothing at all: Landlock looks at that from its third version on. */
static void add_opening(struct program *program, uint32_t call, int flags) {
    size_t begun = begin(program, call);
    load_argument(program, flags);
    add(program, BPF_ALU | BPF_AND | BPF_K, O_ACCMODE | O_TRUNC, 0, 0);
    deny(program, O_RDONLY | O_TRUNC, EACCES);
    deny(program, O_ACCMODE | O_TRUNC, EACCES);
    pass(program);
    end(program, begun);
}

static void add_signals(struct program *program, uint32_t self) {
    only_to(program, SYS_kill, self, 0);
    only_to(program, SYS_tgkill, self, 0);
    only_to(program, SYS_rt_sigqueueinfo, self, 0);
    only_to(program, SYS_rt_tgsigqueueinfo, self, 0);
    deny(program, SYS_tkill, EPERM);
    deny(program, NR_PIDFD_SEND_SIGNAL, EPERM);
    // Whom the kernel notifies of changes of a file, and by which signal.
    size_t begun = begin(program, SYS_fcntl);
    load_argument(program, 1);
    deny(program, F_SETOWN, EPERM);
    deny(program, F_SETOWN_EX, EPERM);
    pass(program);
    end(program, begun);
    begun = begin(program, SYS_ioctl);
    load_argument(program, 1);
    deny(program, 0x8901 /* FIOSETOWN */, EPERM);
    deny(program, 0x8902 /* SIOCSPGRP */, EPERM);
    pass(program);
    end(program, begun);
}

static void add_others(struct program *program, uint32_t self) {
    only_to(program, SYS_prlimit64, self, 1);
    only_to(program, SYS_sched_setaffinity, self, 1);
    only_to(program, SYS_sched_setscheduler, self, 1);
    only_to(program, SYS_sched_setparam, self, 1);
    only_to(program, SYS_sched_setattr, self, 1);
    // Setting a thread's nice value has no effect, and reports success.
    deny(program, SYS_setpriority, 0);
    // Its arguments are in memory, where nobody can look: the C library then takes the older call.
    deny(program, 435 /* clone3 */, ENOSYS);
    size_t begun = begin(program, SYS_clone);
    load_argument(program, 0);
    add(program, BPF_JMP | BPF_JSET | BPF_K,
        CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER
            | CLONE_NEWPID | CLONE_NEWNET | CLONE_PARENT /* the daemon's child, which it reaps never */,
        0, 1);
    answer(program, EPERM);
    pass(program);
    end(program, begun);
}
#endif

int process_wall_calls(int version, int allows_network) {
#ifdef MACHINE
    if (!process_knows_filters()) return 0;
    struct program program = {.count = 0};
    load(&program, offsetof(struct seccomp_data, arch));
    add(&program, BPF_JMP | BPF_JEQ | BPF_K, MACHINE, 1, 0);
    answer(&program, EPERM);
    load(&program, offsetof(struct seccomp_data, nr));
#ifdef __x86_64__
    // The numbers of x32, another way to the same calls.
    add(&program, BPF_JMP | BPF_JGE | BPF_K, 0x40000000, 0, 1);
    answer(&program, EPERM);
#endif
    for (size_t i = 0; i < sizeof denied / sizeof *denied; i++)
        deny(&program, denied[i], EPERM);
    uint32_t self = (uint32_t)getpid();
    add_sockets(&program, allows_network);
    add_opening(&program, SYS_openat, 2);
#ifdef __x86_64__
    add_opening(&program, SYS_open, 1);
#endif
    // Its flags are in memory: the C library then takes the older call.
    deny(&program, 437 /* openat2 */, ENOSYS);
    // Landlock's scope, where there is one, also lets a worker end its own children.
    if (version < 6) add_signals(&program, self);
    add_others(&program, self);
    pass(&program);
    struct sock_fprog filter = {.len = (unsigned short)program.count, .filter = program.lines};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return errno;
    if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &filter) != 0) return errno;
#else
    (void)version, (void)allows_network;
#endif
    return 0;
}
