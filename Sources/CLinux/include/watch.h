#pragma once
/* Watch: what inotify(7) leaves open. */
#include <stddef.h>

enum watch_writer { WATCH_WRITER_NONE, WATCH_WRITER_PRESENT, WATCH_WRITER_UNKNOWN };

/* Whether somebody has the file open for writing, by taking a read lease and giving it back at once; see F_SETLEASE in
   fcntl(2). `file` is open for reading only. Whoever opens it for writing in that instant waits for the release, and
   the signal that tells us so is made SIGURG, which is ignored unless somebody wants it. */
enum watch_writer watch_writer_of(int file);

/* getdents64(2): names at the position of `folder`, as struct linux_dirent64. 0 at the end, -1 with errno set. */
long watch_read_names(int folder, void *buffer, size_t size);

/* eventfd(2), close-on-exec and non-blocking; -1 with errno set. */
int watch_bell(void);

/* Lets a poll(2) on the bell return. Never blocks; a bell that rings already is not rung again. */
void watch_ring(int bell);

/* Forgets all ringing so far. */
void watch_hush(int bell);
