#define _GNU_SOURCE
#include "files.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>

#ifndef SYS_openat2
#define SYS_openat2 437 /* the same on every architecture since 5.6 */
#endif
#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 0x0008U /* 6.3 */
#endif
#ifndef ST_RDONLY
#define ST_RDONLY 1
#endif

const int FILES_O_NOATIME = O_NOATIME;
const int FILES_O_DIRECT = O_DIRECT;
const int FILES_O_PATH = O_PATH;
const int FILES_O_TMPFILE = O_TMPFILE;

int files_openat2(int directory, const char *path, int flags, unsigned mode, uint64_t resolve) {
    /* struct open_how, version 0. Unlike openat(2), openat2(2) refuses a mode without O_CREAT. */
    struct {
        uint64_t flags, mode, resolve;
    } how = {(uint64_t)(unsigned)flags, (flags & O_CREAT) ? mode : 0, resolve};
    return (int)syscall(SYS_openat2, directory, path, &how, sizeof how);
}

int files_rename_noreplace(int from_directory, const char *from, int to_directory, const char *to) {
    return renameat2(from_directory, from, to_directory, to, RENAME_NOREPLACE);
}

int files_clone(int to, int from) { return ioctl(to, FICLONE, from); }

int files_start_writeback(int file, int64_t offset, int64_t count) {
    return sync_file_range(file, offset, count, SYNC_FILE_RANGE_WRITE);
}

int files_set_modified(int file, int64_t seconds, long nanoseconds) {
    const struct timespec times[2] = {{0, UTIME_OMIT}, {seconds, nanoseconds}};
    return futimens(file, times);
}

int files_birth(int file, int64_t *seconds, uint32_t *nanoseconds) {
    struct statx found;
    if (statx(file, "", AT_EMPTY_PATH, STATX_BTIME, &found) != 0) return -1;
    *seconds = found.stx_btime.tv_sec;
    *nanoseconds = found.stx_btime.tv_nsec;
    return (found.stx_mask & STATX_BTIME) != 0;
}

int files_mount_of(int file, uint64_t *mount) {
    struct statx found;
    if (statx(file, "", AT_EMPTY_PATH, STATX_MNT_ID, &found) != 0) return -1;
    *mount = found.stx_mnt_id;
    return (found.stx_mask & STATX_MNT_ID) != 0;
}

/* The first version of struct xfs_fsop_geom, which every kernel still answers; ioctl_xfs_fsgeometry(2). */
struct xfs_geometry {
    uint32_t before[8];
    uint64_t blocks[4];
    uint8_t uuid[16];
    uint32_t after[7];
};

int files_xfs_uuid(int file, uint64_t *uuid) {
    struct xfs_geometry found;
    if (ioctl(file, _IOR('X', 100, struct xfs_geometry), &found) != 0) return -1;
    memcpy(uuid, found.uuid, sizeof *uuid);
    return 0;
}

unsigned files_major(uint64_t device) { return major(device); }
unsigned files_minor(uint64_t device) { return minor(device); }

int files_filesystem_of(int file, struct files_filesystem *filesystem) {
    struct statfs found;
    if (fstatfs(file, &found) != 0) return -1;
    uint32_t id[2];
    _Static_assert(sizeof id == sizeof found.f_fsid, "f_fsid is two 32-bit words");
    memcpy(id, &found.f_fsid, sizeof id);
    /* f_type is a signed word where CIFS_MAGIC_NUMBER would look negative: keep its low 32 bits. */
    filesystem->type = (uint32_t)found.f_type;
    filesystem->id = (uint64_t)id[1] << 32 | id[0];
    filesystem->block_size = (uint64_t)(found.f_frsize ? found.f_frsize : found.f_bsize);
    filesystem->blocks = found.f_blocks;
    filesystem->free_blocks = found.f_bfree;
    filesystem->available_blocks = found.f_bavail;
    filesystem->is_read_only = (found.f_flags & ST_RDONLY) != 0;
    return 0;
}

int files_memory_file(const char *name) {
    int file = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING | MFD_NOEXEC_SEAL);
    if (file >= 0 || errno != EINVAL) return file;
    return memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
}

#define CONTENT_SEALS (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE)

int files_seal(int file) { return fcntl(file, F_ADD_SEALS, CONTENT_SEALS | F_SEAL_SEAL); }

int files_is_sealed(int file) {
    int seals = fcntl(file, F_GET_SEALS);
    return seals < 0 ? -1 : (seals & CONTENT_SEALS) == CONTENT_SEALS;
}

long files_random(void *bytes, size_t count) { return getrandom(bytes, count, 0); }

const char *files_error_name(int number) { return strerrorname_np(number); }

const char *files_error_text(int number) { return strerrordesc_np(number); }
