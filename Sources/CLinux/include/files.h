#pragma once
/* Files: what fcntl.h, renameat2(2), openat2(2) and friends keep behind _GNU_SOURCE or outside glibc. Everything
   returns -1 with errno set, as the call itself does, unless said otherwise. */
#include <stddef.h>
#include <stdint.h>

extern const int FILES_O_NOATIME;
extern const int FILES_O_DIRECT;
extern const int FILES_O_PATH;
extern const int FILES_O_TMPFILE;

/* linux/openat2.h, whose names may be missing from an older kernel's headers. */
#define FILES_RESOLVE_NO_XDEV 0x01
#define FILES_RESOLVE_NO_MAGICLINKS 0x02
#define FILES_RESOLVE_NO_SYMLINKS 0x04
#define FILES_RESOLVE_BENEATH 0x08

/* glibc has no wrapper for openat2(2). */
int files_openat2(int directory, const char *path, int flags, unsigned mode, uint64_t resolve);

/* renameat2(2) with RENAME_NOREPLACE. */
int files_rename_noreplace(int from_directory, const char *from, int to_directory, const char *to);

/* ioctl_ficlone(2): `to` shares the extents of `from`. */
int files_clone(int to, int from);

/* sync_file_range(2), SYNC_FILE_RANGE_WRITE only: starts write-back, waits for nothing, reports nothing. */
int files_start_writeback(int file, int64_t offset, int64_t count);

/* futimens(2) with the access time left alone. */
int files_set_modified(int file, int64_t seconds, long nanoseconds);

/* statx(2): the moment the inode was made. 1 when the filesystem keeps it, 0 when it does not. */
int files_birth(int file, int64_t *seconds, uint32_t *nanoseconds);

/* statx(2): the mount a file lies on, as mountinfo numbers it. 1 when the kernel says it (5.8), 0 when it does not. */
int files_mount_of(int file, uint64_t *mount);

/* ioctl_xfs_fsgeometry(2): half of what the filesystem was given when it was made. */
int files_xfs_uuid(int file, uint64_t *uuid);

/* makedev(3) undone. */
unsigned files_major(uint64_t device);
unsigned files_minor(uint64_t device);

struct files_filesystem {
    uint64_t type; /* statfs.f_type, a magic number of linux/magic.h */
    uint64_t id;   /* statfs.f_fsid; 0 where the filesystem has none */
    uint64_t block_size;
    uint64_t blocks, free_blocks, available_blocks;
    int is_read_only;
};
int files_filesystem_of(int file, struct files_filesystem *filesystem);

/* memfd_create(2), close-on-exec, sealable, not executable where the kernel knows that flag. */
int files_memory_file(const char *name);
/* Adds the seals against shrinking, growing, writing and further sealing. */
int files_seal(int file);
/* 1 when size and content can change no more, 0 when they can. */
int files_is_sealed(int file);

/* getrandom(2) from the kernel's generator; may return fewer bytes than asked for. */
long files_random(void *bytes, size_t count);

/* NULL for a number without a name. Static storage. */
const char *files_error_name(int number);
/* In English whatever the locale; NULL for an unknown number. Static storage. */
const char *files_error_text(int number);
