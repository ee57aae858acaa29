#define _GNU_SOURCE
#include "process.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/landlock.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/timex.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

_Static_assert(
    CL_RLIMIT_FSIZE == RLIMIT_FSIZE && CL_RLIMIT_CORE == RLIMIT_CORE && CL_RLIMIT_NOFILE == RLIMIT_NOFILE &&
        CL_RLIMIT_MEMLOCK == RLIMIT_MEMLOCK && CL_RLIMIT_AS == RLIMIT_AS && CL_CLONE_THREAD == CLONE_THREAD &&
        CL_AT_EMPTY_PATH == AT_EMPTY_PATH,
    "process.h repeats the system's values");

int cl_seqpacket_pair(int ends[2]) {
    return socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) ? errno : 0;
}

enum { CL_LIST_ROOM = 16 };

static int split(const char *texts, char *list[CL_LIST_ROOM]) {
    size_t count = 0;
    for (; *texts; texts += strlen(texts) + 1) {
        if (count == CL_LIST_ROOM - 1) return E2BIG;
        list[count++] = (char *)texts; /* exec(3) promises to leave the texts alone */
    }
    list[count] = NULL;
    return 0;
}

int cl_spawn(const char *program, const char *arguments, const char *environment, int channel, int errors, pid_t *pid) {
    char *argv[CL_LIST_ROOM], *envp[CL_LIST_ROOM];
    int failure = split(arguments, argv);
    if (!failure) failure = split(environment, envp);
    if (failure) return failure;
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t all, none;
    /* Out of the way of 0...3 first: dup2 onto itself would keep close-on-exec, and 2 may be `channel`'s number. */
    int high_channel = fcntl(channel, F_DUPFD_CLOEXEC, 10);
    if (high_channel < 0) return errno;
    int high_errors = fcntl(errors, F_DUPFD_CLOEXEC, 10);
    if (high_errors < 0) {
        failure = errno;
        close(high_channel);
        return failure;
    }
    failure = posix_spawn_file_actions_init(&actions);
    if (failure) goto no_actions;
    failure = posix_spawnattr_init(&attributes);
    if (failure) goto no_attributes;

    sigfillset(&all);
    sigemptyset(&none);
    if (!failure) failure = posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    if (!failure) failure = posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
    if (!failure) failure = posix_spawn_file_actions_adddup2(&actions, high_errors, 2);
    if (!failure) failure = posix_spawn_file_actions_adddup2(&actions, high_channel, 3);
    if (!failure) failure = posix_spawn_file_actions_addclosefrom_np(&actions, 4);
    if (!failure) failure = posix_spawnattr_setsigdefault(&attributes, &all);
    if (!failure) failure = posix_spawnattr_setsigmask(&attributes, &none);
    if (!failure) failure = posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
    if (!failure) failure = posix_spawn(pid, program, &actions, &attributes, argv, envp);

    posix_spawnattr_destroy(&attributes);
no_attributes:
    posix_spawn_file_actions_destroy(&actions);
no_actions:
    close(high_channel);
    close(high_errors);
    return failure;
}

int cl_send(int channel, const void *bytes, size_t count, const int *descriptors, size_t descriptor_count) {
    if (descriptor_count > CL_MAX_DESCRIPTORS) return EINVAL;
    _Alignas(struct cmsghdr) char control[CMSG_SPACE(CL_MAX_DESCRIPTORS * sizeof(int))] = {0};
    struct iovec part = {.iov_base = (void *)bytes, .iov_len = count};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
    if (descriptor_count) {
        message.msg_control = control;
        message.msg_controllen = CMSG_SPACE(descriptor_count * sizeof(int));
        struct cmsghdr *header = CMSG_FIRSTHDR(&message);
        header->cmsg_level = SOL_SOCKET;
        header->cmsg_type = SCM_RIGHTS;
        header->cmsg_len = CMSG_LEN(descriptor_count * sizeof(int));
        memcpy(CMSG_DATA(header), descriptors, descriptor_count * sizeof(int));
    }
    for (;;) {
        ssize_t sent = sendmsg(channel, &message, MSG_NOSIGNAL);
        if (sent >= 0) return (size_t)sent == count ? 0 : EMSGSIZE;
        if (errno != EINTR) return errno;
    }
}

int cl_receive(int channel, void *bytes, size_t room, size_t *count, int *descriptors, size_t *descriptor_count) {
    /* Room for one descriptor more than is ever taken: one too many is seen and closed; more are cut off, and closed,
       by the kernel (MSG_CTRUNC). */
    _Alignas(struct cmsghdr) char control[CMSG_SPACE((CL_MAX_DESCRIPTORS + 1) * sizeof(int))];
    struct iovec part = {.iov_base = bytes, .iov_len = room};
    struct msghdr message = {
        .msg_iov = &part, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
    ssize_t received;
    *count = 0;
    *descriptor_count = 0;
    do received = recvmsg(channel, &message, MSG_CMSG_CLOEXEC);
    while (received < 0 && errno == EINTR);
    if (received < 0) return errno;
    int overflow = message.msg_flags & (MSG_TRUNC | MSG_CTRUNC);
    for (struct cmsghdr *header = CMSG_FIRSTHDR(&message); header; header = CMSG_NXTHDR(&message, header)) {
        if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS) continue;
        size_t held = (header->cmsg_len - CMSG_LEN(0)) / sizeof(int);
        for (size_t i = 0; i < held; i++) {
            int descriptor;
            memcpy(&descriptor, CMSG_DATA(header) + i * sizeof(int), sizeof descriptor);
            if (*descriptor_count < CL_MAX_DESCRIPTORS) {
                descriptors[(*descriptor_count)++] = descriptor;
            } else {
                close(descriptor);
                overflow = 1;
            }
        }
    }
    *count = (size_t)received;
    return overflow ? EMSGSIZE : 0;
}

int cl_wait_readable(int channel, int milliseconds) {
    struct pollfd watched = {.fd = channel, .events = POLLIN};
    int ready = poll(&watched, 1, milliseconds);
    if (ready < 0) return errno == EINTR ? 0 : -errno;
    return ready > 0;
}

int cl_limit_processor_time(pid_t pid, uint64_t seconds) {
    clockid_t clock;
    struct timespec used;
    int failure = clock_getcpuclockid(pid, &clock);
    if (failure) return failure;
    if (clock_gettime(clock, &used)) return errno;
    struct rlimit limit;
    if (prlimit(pid, RLIMIT_CPU, NULL, &limit)) return errno;
    rlim_t wanted = (rlim_t)used.tv_sec + seconds + 1;
    limit.rlim_cur = wanted < limit.rlim_max ? wanted : limit.rlim_max;
    return prlimit(pid, RLIMIT_CPU, &limit, NULL) ? errno : 0;
}

/* proc_pid_statm(5): the whole address space, and what of it is resident. */
static int memory_of(pid_t pid, uint64_t *total_bytes, uint64_t *resident_bytes) {
    char path[40], text[128];
    snprintf(path, sizeof path, "/proc/%d/statm", (int)pid);
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return errno;
    ssize_t count = read(file, text, sizeof text - 1);
    close(file);
    if (count <= 0) return ESRCH;
    text[count] = 0;
    unsigned long long total, resident;
    if (sscanf(text, "%llu %llu", &total, &resident) != 2) return ESRCH;
    *total_bytes = (uint64_t)total * (uint64_t)sysconf(_SC_PAGESIZE);
    *resident_bytes = (uint64_t)resident * (uint64_t)sysconf(_SC_PAGESIZE);
    return 0;
}

uint64_t cl_resident_bytes(pid_t pid) {
    uint64_t total, resident;
    return memory_of(pid, &total, &resident) ? 0 : resident;
}

int cl_limit_growth(pid_t pid, uint64_t bytes) {
    uint64_t total, resident;
    int failure = memory_of(pid, &total, &resident);
    if (failure) return failure;
    struct rlimit limit;
    if (prlimit(pid, RLIMIT_AS, NULL, &limit)) return errno;
    limit.rlim_cur = bytes < limit.rlim_max - total && total < limit.rlim_max ? total + bytes : limit.rlim_max;
    return prlimit(pid, RLIMIT_AS, &limit, NULL) ? errno : 0;
}

int cl_is_stopped(pid_t pid) {
    siginfo_t found = {0};
    return !waitid(P_PID, (id_t)pid, &found, WSTOPPED | WNOHANG | WNOWAIT) && found.si_pid == pid;
}

int cl_kill_and_reap(pid_t pid) {
    int status;
    kill(pid, SIGKILL); /* a zombie takes it without harm, and keeps the status it died with */
    for (;;) {
        pid_t gone = waitpid(pid, &status, 0);
        if (gone == pid) return status;
        if (gone < 0 && errno != EINTR) return -1;
    }
}

int cl_limit_self(int resource, uint64_t value) {
    struct rlimit limit = {.rlim_cur = value, .rlim_max = value};
    return setrlimit((__rlimit_resource_t)resource, &limit) ? errno : 0;
}

int cl_harden_self(void) {
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)) return errno;
    if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0)) return errno;
    if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0)) return errno;
    return 0;
}

int cl_landlock_everything(void) {
    long version = syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
    if (version <= 0) return version < 0 ? errno : ENOSYS;
    /* struct landlock_ruleset_attr as of version 6; the header of the build machine may know fewer fields. Each
       version of the kernel accepts exactly the rights it knows. */
    struct {
        uint64_t handled_access_fs, handled_access_net, scoped;
    } rules = {
        .handled_access_fs = version >= 5 ? 0xffff : version >= 3 ? 0x7fff : version == 2 ? 0x3fff : 0x1fff,
        .handled_access_net = version >= 4 ? 3 : 0, /* TCP bind, connect */
        .scoped = version >= 6 ? 3 : 0,             /* abstract sockets, signals */
    };
    size_t size = version >= 6 ? 24 : version >= 4 ? 16 : 8;
    long ruleset = syscall(SYS_landlock_create_ruleset, &rules, size, 0);
    if (ruleset < 0) return errno;
    int failure = syscall(SYS_landlock_restrict_self, ruleset, 0) ? errno : 0;
    close((int)ruleset);
    return failure;
}

int cl_volunteer_for_oom(int score) {
    char text[16];
    int length = snprintf(text, sizeof text, "%d\n", score);
    int file = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
    if (file < 0) return errno;
    int failure = write(file, text, (size_t)length) < 0 ? errno : 0;
    close(file);
    return failure;
}

int cl_try_fork(void) {
    pid_t child = fork();
    if (child == 0) _exit(0);
    if (child < 0) return errno;
    waitpid(child, NULL, 0);
    return 0;
}

int cl_try_ptrace(pid_t pid) { return ptrace(PTRACE_ATTACH, pid, NULL, NULL) ? errno : 0; }

int cl_try_memory_execution(void) {
    void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED) return ENOMEM;
    return mprotect(page, 4096, PROT_READ | PROT_EXEC) ? errno : 0;
}

int cl_clock_state(void) {
    struct timex state = {0};
    int code = adjtimex(&state);
    return code < 0 ? -errno : code;
}
