#include "lib/guard/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

/* ---- limits ---- */

/* Pages of address space that the process has; 0 where that is not known. */
static long pages_mapped(void)
{
    FILE *statm = fopen("/proc/self/statm", "r");
    long pages = 0;

    if (statm && fscanf(statm, "%ld", &pages) != 1)
        pages = 0;
    if (statm)
        fclose(statm);
    return pages;
}

static bool limit(int resource, hw_count value)
{
    struct rlimit now;

    if (getrlimit(resource, &now) != 0)
        return false;
    if (now.rlim_max != RLIM_INFINITY && (rlim_t)value > now.rlim_max)
        value = (hw_count)now.rlim_max;
    const struct rlimit wanted = {.rlim_cur = (rlim_t)value, .rlim_max = (rlim_t)value};
    return setrlimit(resource, &wanted) == 0;
}

static bool set_limits(const struct hw_sandbox *sandbox)
{
    const hw_count mapped = (hw_count)pages_mapped() * (hw_count)sysconf(_SC_PAGESIZE);
    hw_count memory;

    if (__builtin_add_overflow(mapped, sandbox->memory, &memory))
        memory = INT64_MAX;
    return limit(RLIMIT_CORE, 0) && limit(RLIMIT_FSIZE, 0) &&
           limit(RLIMIT_CPU, sandbox->cpu_seconds) && limit(RLIMIT_AS, memory);
}

/* ---- Landlock: which files can be opened ---- */

/* The kernel's interface, which headers may lack. */
#ifdef SYS_landlock_create_ruleset
#define HAVE_LANDLOCK 1
#else
#define HAVE_LANDLOCK 0
#define SYS_landlock_create_ruleset (-1)
#define SYS_landlock_add_rule (-1)
#define SYS_landlock_restrict_self (-1)
#endif
#define RULE_PATH_BENEATH 1
#define ACCESS_READ_FILE (1ull << 2)
#define ACCESS_ALL                                                                                 \
    ((1ull << 13) - 1) /* of the first version: execute, read, write, make, remove                 \
                        */

struct ruleset {
    uint64_t handled_access_fs;
};

struct __attribute__((packed)) path_rule {
    uint64_t allowed_access;
    int32_t parent_fd;
};

static bool allow_file(int rules, const char *file)
{
    struct path_rule rule = {.allowed_access = ACCESS_READ_FILE};

    rule.parent_fd = open(file, O_PATH | O_CLOEXEC);
    if (rule.parent_fd < 0)
        return false;
    const bool allowed = syscall(SYS_landlock_add_rule, rules, RULE_PATH_BENEATH, &rule, 0) == 0;
    close(rule.parent_fd);
    return allowed;
}

static bool restrict_files(const char *file)
{
    const struct ruleset all = {.handled_access_fs = ACCESS_ALL};
    const int rules =
        HAVE_LANDLOCK ? (int)syscall(SYS_landlock_create_ruleset, &all, sizeof all, 0) : -1;

    if (rules < 0)
        return false;
    /* A file that cannot be opened needs no rule. */
    (void)(file && allow_file(rules, file));
    const bool held = syscall(SYS_landlock_restrict_self, rules, 0) == 0;
    close(rules);
    return held;
}

/* ---- seccomp: which calls the kernel takes ---- */

#if defined __x86_64__
#define ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined __aarch64__
#define ARCHITECTURE AUDIT_ARCH_AARCH64
#else
#define ARCHITECTURE 0 /* not known here */
#endif

/* Calls that a process needs which reads a file, computes and writes to what it has open. */
static const int allowed_calls[] = {
    SYS_read,
    SYS_pread64,
    SYS_readv,
    SYS_write,
    SYS_writev,
    SYS_lseek,
    SYS_close,
    SYS_fstat,
    SYS_munmap,
    SYS_mremap,
    SYS_brk,
    SYS_madvise,
    SYS_futex,
    SYS_exit,
    SYS_exit_group,
    SYS_rt_sigaction,
    SYS_rt_sigprocmask,
    SYS_rt_sigreturn,
    SYS_sched_yield,
    SYS_clock_gettime,
    SYS_gettimeofday,
    SYS_nanosleep,
    SYS_clock_nanosleep,
    SYS_getpid,
    SYS_gettid,
    SYS_getrusage,
    SYS_sysinfo,
    SYS_uname,
    SYS_fadvise64,
    SYS_restart_syscall,
    SYS_flock,
    SYS_getrandom,
    SYS_sched_getaffinity,
#ifdef SYS_newfstatat
    SYS_newfstatat,
#endif
#ifdef SYS_statx
    SYS_statx,
#endif
#ifdef SYS_stat
    SYS_stat,
    SYS_lstat,
#endif
#ifdef SYS_access
    SYS_access,
    SYS_readlink,
    SYS_poll,
#endif
    SYS_faccessat,
    SYS_readlinkat,
};

#define CALLS (sizeof allowed_calls / sizeof *allowed_calls)
#define CALL_AT ((uint32_t)offsetof(struct seccomp_data, nr))
#define ARCHITECTURE_AT ((uint32_t)offsetof(struct seccomp_data, arch))
/* The low half of an argument of a call, where the flags are; little-endian. */
#define ARGUMENT_AT(n) ((uint32_t)(offsetof(struct seccomp_data, args) + 8 * (n)))

/* A filter program as it is put together. */
struct program {
    struct sock_filter code[2 * CALLS + 48];
    unsigned short length;
};

static void add(struct program *p, unsigned code, uint32_t value, unsigned skip_if,
                unsigned skip_if_not)
{
    p->code[p->length++] = (struct sock_filter){(unsigned short)code, (unsigned char)skip_if,
                                                (unsigned char)skip_if_not, value};
}

static void answer(struct program *p, uint32_t value)
{
    add(p, BPF_RET | BPF_K, value, 0, 0);
}

/* Allows a call if a test of one of its arguments, BPF_JEQ or BPF_JSET, comes out as wanted. */
static void allow_if(struct program *p, int call, unsigned argument, unsigned test, uint32_t value,
                     bool wanted)
{
    add(p, BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)call, 0, 4);
    add(p, BPF_LD | BPF_W | BPF_ABS, ARGUMENT_AT(argument), 0, 0);
    add(p, BPF_JMP | test | BPF_K, value, wanted ? 1 : 0, wanted ? 0 : 1);
    answer(p, SECCOMP_RET_ERRNO | EACCES);
    answer(p, SECCOMP_RET_ALLOW);
}

/* Allows a call if none of the forbidden bits is set in one of its arguments. */
static void allow_without(struct program *p, int call, unsigned argument, uint32_t forbidden)
{
    allow_if(p, call, argument, BPF_JSET, forbidden, false);
}

/* Allows a call if one of its arguments has this value. */
static void allow_equal(struct program *p, int call, unsigned argument, uint32_t value)
{
    allow_if(p, call, argument, BPF_JEQ, value, true);
}

/* Allows fcntl() but for the commands by which other processes get signals. */
static void allow_fcntl(struct program *p)
{
    add(p, BPF_JMP | BPF_JEQ | BPF_K, SYS_fcntl, 0, 6);
    add(p, BPF_LD | BPF_W | BPF_ABS, ARGUMENT_AT(1), 0, 0);
    add(p, BPF_JMP | BPF_JEQ | BPF_K, F_SETOWN, 2, 0);
    add(p, BPF_JMP | BPF_JEQ | BPF_K, F_SETSIG, 1, 0);
    add(p, BPF_JMP | BPF_JEQ | BPF_K, F_SETOWN_EX, 0, 1);
    answer(p, SECCOMP_RET_ERRNO | EACCES);
    answer(p, SECCOMP_RET_ALLOW);
}

static bool restrict_calls(void)
{
    const uint32_t writing = O_WRONLY | O_RDWR | O_CREAT | O_TRUNC | O_APPEND;
    struct program p = {.length = 0};

    if (ARCHITECTURE == 0)
        return false;
    add(&p, BPF_LD | BPF_W | BPF_ABS, ARCHITECTURE_AT, 0, 0);
    add(&p, BPF_JMP | BPF_JEQ | BPF_K, ARCHITECTURE, 1, 0);
    answer(&p, SECCOMP_RET_KILL_THREAD);
    add(&p, BPF_LD | BPF_W | BPF_ABS, CALL_AT, 0, 0);
    for (size_t c = 0; c < CALLS; c++) {
        add(&p, BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)allowed_calls[c], 0, 1);
        answer(&p, SECCOMP_RET_ALLOW);
    }
    allow_without(&p, SYS_openat, 2, writing);
#ifdef SYS_open
    allow_without(&p, SYS_open, 1, writing);
#endif
    allow_without(&p, SYS_mmap, 2, PROT_EXEC);
    allow_without(&p, SYS_mprotect, 2, PROT_EXEC);
    allow_equal(&p, SYS_tgkill, 0, (uint32_t)getpid()); /* as abort() does */
    allow_fcntl(&p);
    answer(&p, SECCOMP_RET_ERRNO | EPERM);
    const struct sock_fprog filter = {.len = p.length, .filter = p.code};
    return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter, 0, 0) == 0;
}

bool hw_sandbox_enter(const struct hw_sandbox *sandbox, struct hw_sandbox_kernel *kernel)
{
    *kernel = (struct hw_sandbox_kernel){false, false};
    if (!set_limits(sandbox) || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
        return false;
    kernel->landlock = restrict_files(sandbox->file);
    kernel->seccomp = restrict_calls();
    return true;
}
