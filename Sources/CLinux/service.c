#define _GNU_SOURCE
#include "service.h"

#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <unistd.h>

/* Only what signal-safety(7) allows happens in the handler: write(2) and raise(3). */
static volatile sig_atomic_t mark = -1;

/* SIGSTKSZ is no constant in glibc 2.34 and later; the handler needs less than a page. */
static char stack[16384] __attribute__((aligned(16)));

static const int crashes[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGTRAP};
enum { crash_count = sizeof crashes / sizeof *crashes };

static void note(int number) {
    unsigned char byte = (unsigned char)number;
    /* Nothing more can be done about a failure here. */
    if (write(mark, &byte, 1) != 1) { }
    /* SA_RESETHAND has put the default action back, and SA_NODEFER lets it act at once. Returning would be enough for
       a fault, which happens again, but not for a breakpoint. */
    raise(number);
}

int service_mark_crashes(int file) {
    if (file < 0) {
        errno = EBADF;
        return -1;
    }
    stack_t alternate = {.ss_sp = stack, .ss_size = sizeof stack};
    if (sigaltstack(&alternate, NULL) != 0) return -1;
    mark = file;
    struct sigaction action = {.sa_handler = note, .sa_flags = SA_ONSTACK | SA_RESETHAND | SA_NODEFER};
    sigemptyset(&action.sa_mask);
    struct sigaction before[crash_count];
    for (int i = 0; i < crash_count; i++) {
        if (sigaction(crashes[i], &action, &before[i]) == 0) continue;
        int reason = errno;
        while (i-- > 0) sigaction(crashes[i], &before[i], NULL);
        errno = reason;
        return -1;
    }
    return 0;
}
