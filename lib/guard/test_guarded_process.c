/* Processes that read what may mean harm: what they cannot do, and what is said of each end. */
#include "lib/guard/guarded_process.h"
#include "tests/tap/tap.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#define OWN "own.txt"
#define OTHER "other.txt"

/* ---- what the process does ---- */

static enum hw_status read_own(void *data, struct hw_error *err)
{
    char text[16] = "";
    const int fd = open(OWN, O_RDONLY | O_CLOEXEC);

    (void)data;
    if (fd < 0 || read(fd, text, sizeof text - 1) != 4 || strcmp(text, "own\n") != 0)
        return hw_fail(err, HW_BAD_INPUT, "its file cannot be read: %s", strerror(errno));
    puts("# read, with \033[31m colours");
    return HW_OK;
}

static enum hw_status fail_it(void *data, struct hw_error *err)
{
    return hw_fail(err, *(enum hw_status *)data, "a reason");
}

/* Returns HW_OK if an attempt succeeded, which must not. */
static enum hw_status outcome(bool succeeded, struct hw_error *err)
{
    return succeeded ? HW_OK : hw_fail(err, HW_CHECK_FAILED, "refused");
}

static enum hw_status open_other(void *data, struct hw_error *err)
{
    (void)data;
    return outcome(open(OTHER, O_RDONLY | O_CLOEXEC) >= 0, err);
}

static enum hw_status write_own(void *data, struct hw_error *err)
{
    (void)data;
    return outcome(open(OWN, O_WRONLY | O_CLOEXEC) >= 0, err);
}

static enum hw_status create_new(void *data, struct hw_error *err)
{
    (void)data;
    return outcome(open("new.txt", O_RDWR | O_CREAT | O_CLOEXEC, 0600) >= 0, err);
}

static enum hw_status remove_other(void *data, struct hw_error *err)
{
    (void)data;
    return outcome(unlink(OTHER) == 0 || rename(OTHER, OWN) == 0, err);
}

static enum hw_status connect_out(void *data, struct hw_error *err)
{
    (void)data;
    return outcome(socket(AF_INET, SOCK_STREAM, 0) >= 0 || socket(AF_UNIX, SOCK_STREAM, 0) >= 0,
                   err);
}

static enum hw_status start_process(void *data, struct hw_error *err)
{
    (void)data;
    return outcome(fork() >= 0, err);
}

static enum hw_status signal_parent(void *data, struct hw_error *err)
{
    const pid_t parent = getppid();

    (void)data;
    return outcome(syscall(SYS_tgkill, parent, parent, 0) == 0 || kill(parent, 0) == 0, err);
}

static enum hw_status own_signals(void *data, struct hw_error *err)
{
    (void)data;
    return outcome(fcntl(STDOUT_FILENO, F_SETOWN, getppid()) == 0, err);
}

static enum hw_status map_code(void *data, struct hw_error *err)
{
    (void)data;
    return outcome(mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) !=
                       MAP_FAILED,
                   err);
}

static enum hw_status take_memory(void *data, struct hw_error *err)
{
    (void)data;
    return outcome(mmap(NULL, (size_t)1 << 30, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0) != MAP_FAILED,
                   err);
}

static enum hw_status write_inherited(void *data, struct hw_error *err)
{
    return outcome(write(*(int *)data, "x", 1) == 1, err);
}

static enum hw_status crash(void *data, struct hw_error *err)
{
    (void)err;
    (void)raise(*(int *)data);
    return HW_OK;
}

static enum hw_status run_on(void *data, struct hw_error *err)
{
    volatile bool running = true;

    (void)data;
    (void)err;
    while (running)
        ;
    return HW_OK;
}

static enum hw_status wait_on(void *data, struct hw_error *err)
{
    (void)data;
    (void)err;
    return sleep(100) == 0 ? HW_OK : HW_BAD_INPUT;
}

/* Closes what the parent waits for, and goes on. */
static enum hw_status hide_on(void *data, struct hw_error *err)
{
    (void)data;
    (void)err;
    for (int fd = 0; fd < 16; fd++)
        close(fd);
    return sleep(100) == 0 ? HW_OK : HW_BAD_INPUT;
}

static enum hw_status print_on(void *data, struct hw_error *err)
{
    (void)data;
    (void)err;
    for (;;)
        puts("# much");
    return HW_OK;
}

/* ---- the tests ---- */

static bool put(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    const bool right = file && fputs(text, file) >= 0;

    return file && fclose(file) == 0 && right;
}

static const struct hw_guard_limits limits = {.memory = (hw_count)256 << 20, .seconds = 20};

static void test_results(struct tap *tap)
{
    struct hw_error err = {{0}};
    bool right = true;

    tap_ok(tap, hw_guarded_call(OWN, limits, read_own, NULL, &err) == HW_OK, "reads its file (%s)",
           err.text);
    static const enum hw_status given[] = {HW_CHECK_FAILED, HW_BAD_INPUT, HW_RESOURCES,
                                           HW_INTERNAL};
    for (size_t i = 0; i < sizeof given / sizeof *given; i++) {
        enum hw_status status = given[i];
        const enum hw_status want = status == HW_CHECK_FAILED ? status : HW_BAD_INPUT;
        right = right && hw_guarded_call(OWN, limits, fail_it, &status, &err) == want &&
                strcmp(err.text, "a reason") == 0;
    }
    tap_ok(tap, right, "hands on an error message");
}

/* An attempt at what the kernel refuses, if it can. */
static void test_refused(struct tap *tap, const char *what,
                         enum hw_status (*attempt)(void *data, struct hw_error *err), void *data)
{
    struct hw_error err = {{0}};
    const enum hw_status status = hw_guarded_call(OWN, limits, attempt, data, &err);

    tap_ok(tap, status == HW_CHECK_FAILED && strcmp(err.text, "refused") == 0, "cannot %s (%s)",
           what, err.text);
}

static void test_ends(struct tap *tap)
{
    static const int numbers[] = {SIGSEGV, SIGABRT, SIGBUS, SIGKILL, SIGFPE};
    const struct hw_guard_limits few = {.memory = limits.memory, .seconds = 0.3};
    struct hw_error err = {{0}};
    bool right = true;

    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        int number = numbers[i];
        right = right && hw_guarded_call(OWN, limits, crash, &number, &err) == HW_BAD_INPUT &&
                strstr(err.text, "own.txt: reading it crashes (signal ");
    }
    tap_ok(tap, right, "a crash is an error message (%s)", err.text);
    tap_ok(tap,
           hw_guarded_call(OWN, few, run_on, NULL, &err) == HW_BAD_INPUT &&
               strstr(err.text, "too long"),
           "so is what does not end (%s)", err.text);
    tap_ok(tap,
           hw_guarded_call(OWN, few, wait_on, NULL, &err) == HW_BAD_INPUT &&
               strstr(err.text, "too long"),
           "or waits (%s)", err.text);
    tap_ok(tap,
           hw_guarded_call(OWN, few, hide_on, NULL, &err) == HW_BAD_INPUT &&
               strstr(err.text, "too long"),
           "or waits with its pipes closed (%s)", err.text);
    tap_ok(tap,
           hw_guarded_call(OWN, limits, print_on, NULL, &err) == HW_BAD_INPUT &&
               strstr(err.text, "prints too much"),
           "or prints without end (%s)", err.text);
}

/* Whether the kernel can hold what the tests try, asked without the code that is tested. */
static bool is_held(void)
{
#if defined SYS_landlock_create_ruleset && (defined __x86_64__ || defined __aarch64__)
    const uint32_t action = SECCOMP_RET_ERRNO;

    return syscall(SYS_landlock_create_ruleset, NULL, 0, 1u /* the version */) >= 1 &&
           syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action) == 0;
#else
    return false;
#endif
}

int main(void)
{
    static const struct {
        const char *what;
        enum hw_status (*attempt)(void *data, struct hw_error *err);
    } refused[] = {{"open another file", open_other},
                   {"open its file for writing", write_own},
                   {"make a file", create_new},
                   {"remove or rename one", remove_other},
                   {"connect", connect_out},
                   {"start a process", start_process},
                   {"make memory executable", map_code},
                   {"send its parent a signal", signal_parent},
                   {"have it sent one", own_signals},
                   {"write to what was open before", write_inherited},
                   {"take more memory than it may", take_memory}};
    const int count = (int)(sizeof refused / sizeof *refused);
    struct tap tap = {0};
    char folder[TAP_FOLDER];

    tap_plan(&tap, 9 + count);
    if (!tap_ok(&tap, tap_folder(&tap, folder) && chdir(folder) == 0, "a folder"))
        return tap_done(&tap);
    const int low = open("open.txt", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    int fd = fcntl(low, F_DUPFD_CLOEXEC, 40); /* not a number that the process has a use for */
    tap_ok(&tap, put(OWN, "own\n") && put(OTHER, "other\n") && fd >= 0, "files");
    test_results(&tap);
    const bool held = is_held();
    for (int i = 0; i < count; i++)
        if (held || refused[i].attempt == write_inherited || refused[i].attempt == take_memory)
            test_refused(&tap, refused[i].what, refused[i].attempt, &fd);
        else
            tap_skip(&tap, "the kernel has no Landlock or no seccomp");
    test_ends(&tap);
    close(fd);
    close(low);
    if (chdir("/") == 0)
        tap_drop_folder(&tap, folder);
    return tap_done(&tap);
}
