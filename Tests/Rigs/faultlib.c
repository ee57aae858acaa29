/*
 * Makes calls on files fail, stop or end the process, for tests; and writes down which calls there were. Preloaded into
 * one program (LD_PRELOAD), not into those that it starts.
 *
 *   FAULTS="CALL:ACTION:FIRST[-LAST|+]@FOLDER[,FOLDER...]; ..."
 *     CALL    open make write read sync rename link unlink truncate stat set close, or change: whatever alters the disk
 *             (every call but read, stat, close, and open of what is there)
 *     ACTION  an errno by name; KILL: the process dies before the call; CRASH: it dies of a signal of its own; SHORT:
 *             half of the bytes; FLIP: one bit of what is written is another; STOP: the process stands still before the
 *             call until SIGCONT
 *     FIRST   counted from 1 over all threads, among the calls of that rule's kind below its folders; with LAST or + it
 *             goes on
 *   FAULTS_AFTER=FILE   nothing happens, and nothing is counted, before this file is there
 *   FAULTS_UNTIL=FILE   nothing happens any more once this file is there
 *   FAULTS_MET=FILE     a line for each time that a rule was met: "CALL ACTION PATH"
 *   FAULTS_TRACE=FILE   a line for each call below FAULTS_ROOT, in their order: "CALL result PATH [-> PATH]"
 *
 * A file whose sync fails is marked, by a last change one second after 1970 began, and so is one that was written to and
 * whose close fails: memory shows it whole, and the disk need not hold anything of it, whatever a second sync says.
 *
 * What is no file has the name that /proc/PID/fd gives it: anon_inode:inotify is a folder for rules too.
 *
 * Sees what goes through the C library's functions, openat2(2) by syscall(2) included; not what maps memory.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum call { OPEN, MAKE, WRITE, READ, SYNC, RENAME, LINK, UNLINK, TRUNCATE, STAT, SET, CLOSE, CALLS, CHANGE = CALLS };
static const char *const call_names[] = {"open",   "make",     "write", "read", "sync",  "rename", "link",
                                         "unlink", "truncate", "stat",  "set",  "close", "change"};

enum { KILL = -1, SHORT = -2, FLIP = -3, STOP = -4, END = -5, HANG = -6, CRASH = -7 };
static const struct {
    const char *name;
    int number;
} actions[] = {{"KILL", KILL},     {"SHORT", SHORT},   {"FLIP", FLIP},     {"STOP", STOP},     {"END", END},
               {"HANG", HANG},     {"CRASH", CRASH},   {"EIO", EIO},
               {"ENOSPC", ENOSPC}, {"EDQUOT", EDQUOT}, {"EROFS", EROFS},   {"EMFILE", EMFILE}, {"ENFILE", ENFILE},
               {"ESTALE", ESTALE}, {"EINTR", EINTR},   {"EACCES", EACCES}, {"EPERM", EPERM},   {"ENOENT", ENOENT},
               {"ENOMEM", ENOMEM}, {"EXDEV", EXDEV},   {"EBUSY", EBUSY},   {"EINVAL", EINVAL}};

struct rule {
    enum call call;
    int action;
    const char *action_name;
    long first, last;
    const char *folders; /* with commas between */
    atomic_long count;
};
static struct rule rules[16];
static int rule_count;
static const char *root, *after, *until;
static int trace = -1, met = -1;

static void refuse(const char *what) {
    fprintf(stderr, "faultlib: cannot read %s\n", what);
    _exit(127);
}

static void read_rule(char *text) {
    struct rule *rule = &rules[rule_count];
    char call[16], action[16], *at = strchr(text, '@');
    if (rule_count == 16 || !at) refuse(text);
    *at = 0;
    if (sscanf(text, " %15[^:]:%15[^:]:%ld", call, action, &rule->first) != 3) refuse(text);
    rule->call = CALLS + 1;
    for (int i = 0; i <= CALLS; i++)
        if (!strcmp(call, call_names[i])) rule->call = i;
    for (size_t i = 0; i < sizeof actions / sizeof *actions; i++)
        if (!strcmp(action, actions[i].name)) {
            rule->action = actions[i].number;
            rule->action_name = actions[i].name;
        }
    if (rule->call > CALLS || !rule->action || rule->first < 1) refuse(text);
    rule->last = rule->first;
    char *number_end = strrchr(text, ':') + 1 + strspn(strrchr(text, ':') + 1, "0123456789");
    if (*number_end == '+') rule->last = LONG_MAX;
    if (*number_end == '-') rule->last = atol(number_end + 1);
    rule->folders = at + 1;
    rule_count++;
}

static int open_list(const char *file) {
    return (int)syscall(SYS_openat, AT_FDCWD, file, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
}

__attribute__((constructor)) static void begin(void) {
    unsetenv("LD_PRELOAD"); /* the decoder is not meant */
    char *text = getenv("FAULTS"), *rest;
    if (text)
        for (char *one = strtok_r(strdup(text), ";", &rest); one; one = strtok_r(NULL, ";", &rest)) read_rule(one);
    root = getenv("FAULTS_ROOT");
    after = getenv("FAULTS_AFTER");
    until = getenv("FAULTS_UNTIL");
    char *file = getenv("FAULTS_TRACE");
    if (file && root) trace = open_list(file);
    if ((file = getenv("FAULTS_MET"))) met = open_list(file);
}

/* Whether path is one of the folders or lies below one. */
static int is_below(const char *path, const char *folders) {
    while (*folders) {
        size_t length = strcspn(folders, ",");
        if (!strncmp(path, folders, length) && (path[length] == '/' || !path[length])) return 1;
        folders += length + (folders[length] == ',');
    }
    return 0;
}

/* The absolute path of what a call is about: a descriptor, or a name in the folder of a descriptor. */
static void find(char out[PATH_MAX], int descriptor, const char *name) {
    out[0] = 0;
    if (name && *name == '/') {
        snprintf(out, PATH_MAX, "%s", name);
        return;
    }
    char link[40];
    if (descriptor == AT_FDCWD)
        snprintf(link, sizeof link, "/proc/self/cwd");
    else
        snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
    ssize_t length = syscall(SYS_readlinkat, AT_FDCWD, link, out, PATH_MAX - 1);
    if (length < 0) length = 0;
    out[length] = 0;
    if (name && *name && strcmp(name, ".")) snprintf(out + length, PATH_MAX - (size_t)length, "/%s", name);
}

/* What is to happen: 0 nothing, an errno, SHORT or FLIP. Does not come back from KILL. */
static int meet(enum call call, int is_change, const char *path) {
    int saved = errno, outcome = 0;
    for (int i = 0; i < rule_count; i++) {
        struct rule *rule = &rules[i];
        if (rule->call == CHANGE ? !is_change : rule->call != call) continue;
        if (!is_below(path, rule->folders)) continue;
        if (after && syscall(SYS_faccessat, AT_FDCWD, after, F_OK)) continue;
        if (until && !syscall(SYS_faccessat, AT_FDCWD, until, F_OK)) continue;
        long number = atomic_fetch_add(&rule->count, 1) + 1;
        if (number < rule->first || number > rule->last) continue;
        if (met >= 0) {
            char line[PATH_MAX + 64];
            int length = snprintf(line, sizeof line, "%s %s %s\n", call_names[call], rule->action_name, path);
            syscall(SYS_write, met, line, (size_t)length);
        }
        if (rule->action == KILL) {
            syscall(SYS_kill, getpid(), SIGKILL);
            for (;;) pause();
        }
        if (rule->action == CRASH) raise(SIGSEGV);
        if (rule->action == END) syscall(SYS_exit, 0);
        if (rule->action == HANG)
            for (;;) pause();
        if (rule->action == STOP)
            /* To this thread: of one to the process another thread may take notice, and this one goes on meanwhile. */
            syscall(SYS_tgkill, getpid(), syscall(SYS_gettid), SIGSTOP);
        else
            outcome = rule->action;
    }
    errno = saved;
    return outcome;
}

static void note(enum call call, int is_change, long result, const char *path, const char *to) {
    if (trace < 0 || !is_below(path, root)) return;
    int saved = errno;
    char line[2 * PATH_MAX + 64];
    int length = snprintf(line, sizeof line, "%s%s %s %s%s%s\n", call_names[call], is_change ? "!" : "",
                          result < 0 ? "failed" : "ok", path, to ? " -> " : "", to ? to : "");
    syscall(SYS_write, trace, line, (size_t)length);
    errno = saved;
}

#define REAL(name)                          \
    static __typeof__(&name) real;          \
    if (!real) real = (__typeof__(&name))dlsym(RTLD_NEXT, #name)

/* See above. An interrupted call has lost nothing. */
static void mark_refused(int file, int fault) {
    if (fault <= 0 || fault == EINTR) return;
    struct stat found; /* asked by number, for fstat is a call that rules may count */
    struct timespec times[2] = {{.tv_nsec = UTIME_OMIT}, {.tv_sec = 1}};
    if (!syscall(SYS_fstat, file, &found) && S_ISREG(found.st_mode)) syscall(SYS_utimensat, file, NULL, times, 0);
}

/* Finds the path, meets the rules, makes the call, notes it. */
#define PASS(call, is_change, descriptor, name, expression)                        \
    do {                                                                           \
        int fault = 0;                                                             \
        if (!rule_count && trace < 0) return expression;                           \
        char path[PATH_MAX];                                                       \
        find(path, descriptor, name);                                              \
        fault = meet(call, is_change, path);                                       \
        if ((call) == SYNC) mark_refused(descriptor, fault);                       \
        if (fault > 0) errno = fault;                                              \
        __typeof__(expression) result = fault > 0 ? -1 : (expression);             \
        note(call, is_change, (long)result, path, NULL);                           \
        return result;                                                             \
    } while (0)
#define HALF(count) (fault == SHORT && (count) > 1 ? (count) / 2 : (count))

#define MODE                                          \
    mode_t mode = 0;                                  \
    if (flags & (O_CREAT | __O_TMPFILE)) {            \
        va_list rest;                                 \
        va_start(rest, flags);                        \
        mode = va_arg(rest, mode_t);                  \
        va_end(rest);                                 \
    }
#define MAKES(flags) (((flags) & (O_CREAT | O_TRUNC)) != 0)

int open(const char *name, int flags, ...) {
    REAL(open);
    MODE PASS(OPEN, MAKES(flags), AT_FDCWD, name, real(name, flags, mode));
}
int open64(const char *name, int flags, ...) {
    REAL(open64);
    MODE PASS(OPEN, MAKES(flags), AT_FDCWD, name, real(name, flags, mode));
}
int openat(int folder, const char *name, int flags, ...) {
    REAL(openat);
    MODE PASS(OPEN, MAKES(flags), folder, name, real(folder, name, flags, mode));
}
int openat64(int folder, const char *name, int flags, ...) {
    REAL(openat64);
    MODE PASS(OPEN, MAKES(flags), folder, name, real(folder, name, flags, mode));
}
static long open_how(int folder, const char *name, const uint64_t *how, size_t size, __typeof__(&syscall) real) {
    PASS(OPEN, MAKES(how[0]), folder, name, real(SYS_openat2, folder, name, how, size));
}
long syscall(long number, ...) {
    REAL(syscall);
    long a[6];
    va_list rest;
    va_start(rest, number);
    for (int i = 0; i < 6; i++) a[i] = va_arg(rest, long);
    va_end(rest);
    if (number == SYS_openat2 && (rule_count || trace >= 0))
        return open_how((int)a[0], (const char *)a[1], (const uint64_t *)a[2], (size_t)a[3], real);
    return real(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

/* What a controller or a cable with a fault writes, and says that it went well. */
static ssize_t write_flipped(int file, const void *bytes, size_t count) {
    unsigned char *other = malloc(count);
    if (!other) return -1;
    memcpy(other, bytes, count);
    other[count / 2] ^= 1;
    ssize_t result = syscall(SYS_write, file, other, count);
    free(other);
    return result;
}
ssize_t write(int file, const void *bytes, size_t count) {
    REAL(write);
    PASS(WRITE, 1, file, NULL,
         fault == FLIP && count ? write_flipped(file, bytes, count) : real(file, bytes, HALF(count)));
}
ssize_t pwrite(int file, const void *bytes, size_t count, off_t offset) {
    REAL(pwrite);
    PASS(WRITE, 1, file, NULL, real(file, bytes, HALF(count), offset));
}
ssize_t pwrite64(int file, const void *bytes, size_t count, off64_t offset) {
    REAL(pwrite64);
    PASS(WRITE, 1, file, NULL, real(file, bytes, HALF(count), offset));
}
ssize_t read(int file, void *bytes, size_t count) {
    REAL(read);
    PASS(READ, 0, file, NULL, real(file, bytes, HALF(count)));
}
ssize_t pread(int file, void *bytes, size_t count, off_t offset) {
    REAL(pread);
    PASS(READ, 0, file, NULL, real(file, bytes, HALF(count), offset));
}
ssize_t pread64(int file, void *bytes, size_t count, off64_t offset) {
    REAL(pread64);
    PASS(READ, 0, file, NULL, real(file, bytes, HALF(count), offset));
}

int fsync(int file) {
    REAL(fsync);
    PASS(SYNC, 1, file, NULL, real(file));
}
int fdatasync(int file) {
    REAL(fdatasync);
    PASS(SYNC, 1, file, NULL, real(file));
}
int ftruncate(int file, off_t size) {
    REAL(ftruncate);
    PASS(TRUNCATE, 1, file, NULL, real(file, size));
}
int ftruncate64(int file, off64_t size) {
    REAL(ftruncate64);
    PASS(TRUNCATE, 1, file, NULL, real(file, size));
}

int mkdir(const char *name, mode_t mode) {
    REAL(mkdir);
    PASS(MAKE, 1, AT_FDCWD, name, real(name, mode));
}
int mkdirat(int folder, const char *name, mode_t mode) {
    REAL(mkdirat);
    PASS(MAKE, 1, folder, name, real(folder, name, mode));
}
int unlink(const char *name) {
    REAL(unlink);
    PASS(UNLINK, 1, AT_FDCWD, name, real(name));
}
int unlinkat(int folder, const char *name, int flags) {
    REAL(unlinkat);
    PASS(UNLINK, 1, folder, name, real(folder, name, flags));
}
int fchmod(int file, mode_t mode) {
    REAL(fchmod);
    PASS(SET, 1, file, NULL, real(file, mode));
}
int fchown(int file, uid_t uid, gid_t gid) {
    REAL(fchown);
    PASS(SET, 1, file, NULL, real(file, uid, gid));
}
int futimens(int file, const struct timespec times[2]) {
    REAL(futimens);
    PASS(SET, 1, file, NULL, real(file, times));
}
int fstat(int file, struct stat *found) {
    REAL(fstat);
    PASS(STAT, 0, file, NULL, real(file, found));
}
int fstatat(int folder, const char *name, struct stat *found, int flags) {
    REAL(fstatat);
    PASS(STAT, 0, folder, name, real(folder, name, found, flags));
}

/* Both ends count, whichever lies below the folders, but only once. */
#define PASS_TWO(call, from_folder, from, to_folder, to, expression)                                      \
    do {                                                                                                  \
        if (!rule_count && trace < 0) return expression;                                                  \
        char old[PATH_MAX], new[PATH_MAX];                                                                \
        find(old, from_folder, from);                                                                     \
        find(new, to_folder, to);                                                                         \
        int fault = meet(call, 1, new);                                                                   \
        if (fault > 0) errno = fault;                                                                     \
        int result = fault > 0 ? -1 : (expression);                                                       \
        note(call, 1, result, old, new);                                                                  \
        return result;                                                                                    \
    } while (0)

int rename(const char *from, const char *to) {
    REAL(rename);
    PASS_TWO(RENAME, AT_FDCWD, from, AT_FDCWD, to, real(from, to));
}
int renameat(int a, const char *from, int b, const char *to) {
    REAL(renameat);
    PASS_TWO(RENAME, a, from, b, to, real(a, from, b, to));
}
int renameat2(int a, const char *from, int b, const char *to, unsigned flags) {
    REAL(renameat2);
    PASS_TWO(RENAME, a, from, b, to, real(a, from, b, to, flags));
}
int link(const char *from, const char *to) {
    REAL(link);
    PASS_TWO(LINK, AT_FDCWD, from, AT_FDCWD, to, real(from, to));
}
int linkat(int a, const char *from, int b, const char *to, int flags) {
    REAL(linkat);
    PASS_TWO(LINK, a, from, b, to, real(a, from, b, to, flags));
}

/* Gives the descriptor back whatever it says, as close(2) does. */
int close(int file) {
    REAL(close);
    if (!rule_count && trace < 0) return real(file);
    char path[PATH_MAX];
    find(path, file, NULL);
    int fault = meet(CLOSE, 0, path);
    if (fcntl(file, F_GETFL) & (O_WRONLY | O_RDWR)) mark_refused(file, fault);
    int result = real(file);
    note(CLOSE, 0, fault > 0 ? -1 : result, path, NULL);
    if (fault > 0) {
        errno = fault;
        return -1;
    }
    return result;
}
