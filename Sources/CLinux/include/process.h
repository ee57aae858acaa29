#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Starting, feeding, limiting and locking in a helper process. Functions return 0 or an errno value unless they say
   otherwise. */

/* A connected SOCK_SEQPACKET pair, both ends close-on-exec. unix(7) */
int cl_seqpacket_pair(int ends[2]);

/* Starts `program` with descriptor 3 = `channel`, 2 = `errors`, 0 and 1 = /dev/null and nothing else open, default
   signal actions, an empty signal mask. posix_spawn(3); a program that is not there is its errno. `arguments` (the
   program's own name first) and `environment` are texts one after the other, each ended by NUL, the list by a second
   one; at most 15 texts. */
int cl_spawn(const char *program, const char *arguments, const char *environment, int channel, int errors, pid_t *pid);

/* One message with up to CL_MAX_DESCRIPTORS descriptors. EAGAIN never comes: the sockets block. */
enum { CL_MAX_DESCRIPTORS = 4 };
int cl_send(int channel, const void *bytes, size_t count, const int *descriptors, size_t descriptor_count);

/* Receives one message. Descriptors arrive close-on-exec in `descriptors` and are the caller's to close, also on
   EMSGSIZE: the message, or its descriptors, were longer than what there is room for. `*count` 0 means end. */
int cl_receive(int channel, void *bytes, size_t room, size_t *count, int *descriptors, size_t *descriptor_count);

/* Waits until `channel` can be read or is closed. 1 yes, 0 timeout, negative errno. */
int cl_wait_readable(int channel, int milliseconds);

/* Lets `pid` use `seconds` more of processor time than it has used so far; then it gets SIGXCPU. The hard limit stays,
   so that an ordinary user can raise the soft one again for the next request. */
int cl_limit_processor_time(pid_t pid, uint64_t seconds);

/* Resident memory of `pid` in bytes, 0 when unknown. */
uint64_t cl_resident_bytes(pid_t pid);

/* Lets the address space of a child grow by so many bytes from what it has now, and not beyond its hard limit. */
int cl_limit_growth(pid_t pid, uint64_t bytes);

/* Whether `pid`, a child of ours, was stopped by a signal or a tracer and has not gone on; waitid(2). */
int cl_is_stopped(pid_t pid);

/* SIGKILL, then waitpid(2) until it is gone. Returns the wait status, or -1 when it was no child of ours. */
int cl_kill_and_reap(pid_t pid);

/* What Swift's Glibc module does not show, or shows only as enumerators; process.c checks the values. */
enum {
    CL_RLIMIT_FSIZE = 1,
    CL_RLIMIT_CORE = 4,
    CL_RLIMIT_NOFILE = 7,
    CL_RLIMIT_MEMLOCK = 8,
    CL_RLIMIT_AS = 9,
    CL_CLONE_THREAD = 0x10000,
    CL_AT_EMPTY_PATH = 0x1000,
};

/* Sets soft and hard limit of `resource` (CL_RLIMIT_*). */
int cl_limit_self(int resource, uint64_t value);

/* No new privileges, not traceable or dumpable by its own user, SIGKILL when the thread that started it ends. prctl(2) */
int cl_harden_self(void);

/* A landlock domain without a single rule: no path can be opened, made, removed or run, no TCP port used, no signal
   sent outside, as far as the kernel's version knows of these. ENOSYS or EOPNOTSUPP: there is no landlock.
   Needs cl_harden_self before. landlock(7) */
int cl_landlock_everything(void);

/* Moves this process up in the order in which the kernel frees memory (oom_score_adj, proc(5)). */
int cl_volunteer_for_oom(int score);

/* What an exploit would try, for the sandbox's self-test: each returns 0 when it was let through. */
int cl_try_fork(void);
int cl_try_ptrace(pid_t pid);
int cl_try_memory_execution(void);

/* adjtimex(2), asked without setting anything: 0 for a clock that is kept, 5 (TIME_ERROR) for one that is not, negative
   errno when it cannot be asked. */
int cl_clock_state(void);
