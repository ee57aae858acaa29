#pragma once
/* What a daemon does when it dies of its own fault. */

/* From now on SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT and SIGTRAP write one byte, the number of the signal, to `file`
   and then act as they always do: the process dies of the same signal. The descriptor stays the caller's and must stay
   open. On the calling thread, which should be the main one, the handler has a stack of its own, so that a stack that
   ran over is noted too; on other threads it is not.
   0, or -1 with errno; then nothing has changed. */
int service_mark_crashes(int file);
