#define _GNU_SOURCE
#include "watch.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

enum watch_writer watch_writer_of(int file) {
    if (fcntl(file, F_SETSIG, SIGURG) != 0) return WATCH_WRITER_UNKNOWN;
    if (fcntl(file, F_SETLEASE, F_RDLCK) != 0) return errno == EAGAIN ? WATCH_WRITER_PRESENT : WATCH_WRITER_UNKNOWN;
    /* Cannot fail on a lease just taken; closing the file would end it too. */
    (void)fcntl(file, F_SETLEASE, F_UNLCK);
    return WATCH_WRITER_NONE;
}

long watch_read_names(int folder, void *buffer, size_t size) { return syscall(SYS_getdents64, folder, buffer, size); }

int watch_bell(void) { return eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK); }

void watch_ring(int bell) {
    const eventfd_t one = 1;
    (void)eventfd_write(bell, one); /* EAGAIN only when it rings already */
}

void watch_hush(int bell) {
    eventfd_t count;
    (void)eventfd_read(bell, &count); /* EAGAIN when it does not ring */
}
