/* Loaded into the daemon (LD_PRELOAD) to plant a fault that only a power cut shows: calls that make things durable say
   yes and do nothing. FORGET names which, one or more: files, folders, newfolders (those whose parent holds them), wal.
   With cache it is the reading back that goes wrong: it sees what memory holds. With errors an fsync that failed is made
   again, which then says yes. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/fiemap.h>
#include <linux/fs.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

/* Whether FORGET has this among its words. */
static int named(const char *word) {
    const char *words = getenv("FORGET");
    size_t length = strlen(word);
    for (const char *at = words; at && (at = strstr(at, word)); at += length)
        if ((at == words || at[-1] == ' ') && (at[length] == ' ' || !at[length])) return 1;
    return 0;
}

static int forgets(int file) {
    char link[64], path[PATH_MAX];
    struct stat found;
    if (!getenv("FORGET") || fstat(file, &found) != 0) return 0;
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length < 0) return 0;
    path[length] = 0;
    int is_wal = strstr(path, "spool.db-wal") != NULL;
    int is_state = strstr(path, "/state") != NULL;
    if (named("wal") && is_wal) return 1;
    if (named("files") && S_ISREG(found.st_mode) && strstr(path, "/staging/")) return 1;
    if (named("folders") && S_ISDIR(found.st_mode) && !is_state) return 1;
    /* A new folder of the library (2026, 2026-05-17) is kept by the sync of the one above it. */
    const char *name = strrchr(path, '/');
    if (named("newfolders") && S_ISDIR(found.st_mode) && strstr(path, "/library") && !strstr(path, "/.photospool")
        && name && !strchr(name, '-'))
        return 1;
    return 0;
}

/* With FLIP_IMAGE the disk goes bad: as soon as a file in staging was synced, one bit of it turns over in the image that
   its filesystem lies in, beneath every cache. FLIP_COUNT gets a byte for each. */
static void flip(int file) {
    const char *image = getenv("FLIP_IMAGE"), *count = getenv("FLIP_COUNT");
    char link[64], path[PATH_MAX];
    struct stat found;
    if (!image || fstat(file, &found) != 0 || !S_ISREG(found.st_mode) || found.st_size == 0) return;
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length < 4) return;
    path[length] = 0;
    if (!strstr(path, "/staging/") || !strcmp(path + length - 4, ".jpg")) return;
    struct { struct fiemap map; struct fiemap_extent extent; } where = {{0}};
    where.map.fm_length = (uint64_t)found.st_size;
    where.map.fm_extent_count = 1;
    if (ioctl(file, FS_IOC_FIEMAP, &where.map) != 0 || where.map.fm_mapped_extents != 1) return;
    off_t place = (off_t)where.extent.fe_physical + (off_t)(found.st_ino * 7919 % (uint64_t)found.st_size % where.extent.fe_length);
    int disk = open(image, O_RDWR | O_CLOEXEC), tally = count ? open(count, O_WRONLY | O_APPEND | O_CLOEXEC) : -1;
    unsigned char byte;
    if (disk >= 0 && pread(disk, &byte, 1, place) == 1) {
        byte ^= (unsigned char)(1u << found.st_ino % 8);
        if (pwrite(disk, &byte, 1, place) == 1 && tally >= 0 && write(tally, "x", 1) != 1) abort();
    }
    if (disk >= 0) close(disk);
    if (tally >= 0) close(tally);
}

int fsync(int file) {
    static int (*real)(int);
    if (!real) real = (int (*)(int))dlsym(RTLD_NEXT, "fsync");
    int code = forgets(file) ? 0 : real(file);
    if (code != 0 && errno == EIO && named("errors")) code = real(file);
    if (code == 0) flip(file);
    return code;
}

int fdatasync(int file) {
    static int (*real)(int);
    if (!real) real = (int (*)(int))dlsym(RTLD_NEXT, "fdatasync");
    return forgets(file) ? 0 : real(file);
}

/* Starts writing, which on most disks comes to an end soon enough to hide that nobody waited for it. */
int sync_file_range(int file, off_t offset, off_t length, unsigned flags) {
    static int (*real)(int, off_t, off_t, unsigned);
    if (!real) real = (int (*)(int, off_t, off_t, unsigned))dlsym(RTLD_NEXT, "sync_file_range");
    return forgets(file) ? 0 : real(file, offset, length, flags);
}

int posix_fadvise(int file, off_t offset, off_t length, int advice) {
    static int (*real)(int, off_t, off_t, int);
    if (!real) real = (int (*)(int, off_t, off_t, int))dlsym(RTLD_NEXT, "posix_fadvise");
    return advice == POSIX_FADV_DONTNEED && named("cache") ? 0 : real(file, offset, length, advice);
}

int open(const char *path, int flags, ...) {
    static int (*real)(const char *, int, ...);
    if (!real) real = (int (*)(const char *, int, ...))dlsym(RTLD_NEXT, "open");
    if ((flags & O_DIRECT) && named("cache")) {
        errno = EINVAL;
        return -1;
    }
    unsigned mode = 0;
    if (flags & (O_CREAT | O_TMPFILE)) {
        va_list rest;
        va_start(rest, flags);
        mode = va_arg(rest, unsigned);
        va_end(rest);
    }
    return real(path, flags, mode);
}
