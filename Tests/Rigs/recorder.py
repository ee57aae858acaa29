#!/usr/bin/python3
"""Shows a folder once more at a mount point and writes down every call that changes it, and what is read past the cache:
what a power cut may leave of it, and what was certain before which call, can then be worked out.

    recorder.py BACK MOUNT LOG    in the foreground, until MOUNT is unmounted

A program marks a moment by setting the attribute `user.mark` of MOUNT. The log is a series of pickled tuples; see
`Replay` in replay.py for what they mean.
"""
# python3-fusepy is the distribution's, and so belongs to its own python3.
import errno, os, pickle, signal, sys

from fusepy import FUSE, FuseOSError, Operations


class Recorder(Operations):
    use_ns = True

    def __init__(self, back, log):
        self.back = os.path.abspath(back)
        self.log = open(log, "wb")
        self.past_cache = set()  # handles that were opened with O_DIRECT

    def __call__(self, call, *arguments):
        try:
            return super().__call__(call, *arguments)
        except OSError as error:
            raise FuseOSError(error.errno) from error

    def note(self, *what):
        pickle.dump(what, self.log, pickle.HIGHEST_PROTOCOL)

    def behind(self, path):
        return self.back + path

    def number(self, path):
        return os.lstat(self.behind(path)).st_ino

    # What changes nothing.

    def getattr(self, path, handle=None):
        found = os.lstat(self.behind(path))
        return {
            "st_ino": found.st_ino, "st_mode": found.st_mode, "st_nlink": found.st_nlink, "st_uid": found.st_uid,
            "st_gid": found.st_gid, "st_size": found.st_size, "st_blocks": found.st_blocks,
            "st_atime": found.st_atime_ns, "st_mtime": found.st_mtime_ns, "st_ctime": found.st_ctime_ns}

    def readdir(self, path, handle):
        return [".", "..", *os.listdir(self.behind(path))]

    def statfs(self, path):
        found = os.statvfs(self.behind(path))
        names = ("f_bsize", "f_frsize", "f_blocks", "f_bfree", "f_bavail", "f_files", "f_ffree", "f_favail", "f_namemax")
        return {name: getattr(found, name) for name in names}

    def read(self, path, size, offset, handle):
        data = os.pread(handle, size, offset)
        if handle in self.past_cache:
            self.note("read", os.fstat(handle).st_ino, offset, len(data))
        return data

    def flush(self, path, handle):
        return 0

    def release(self, path, handle):
        self.past_cache.discard(handle)
        os.close(handle)

    # Content.

    def open(self, path, flags):
        is_past_cache = flags & os.O_DIRECT
        # Readable too, for the kernel fills its pages before it changes a part of one.
        flags = flags & ~(os.O_WRONLY | os.O_APPEND | os.O_DIRECT | os.O_NOFOLLOW) | os.O_RDWR
        handle = os.open(self.behind(path), flags & ~os.O_TRUNC)
        if flags & os.O_TRUNC:
            os.ftruncate(handle, 0)
            self.note("cut", os.fstat(handle).st_ino, 0)
        if is_past_cache:
            self.past_cache.add(handle)
        return handle

    def write(self, path, data, offset, handle):
        count = os.pwrite(handle, data, offset)
        self.note("write", os.fstat(handle).st_ino, offset, data[:count])
        return count

    def truncate(self, path, length, handle=None):
        if handle is None:
            os.truncate(self.behind(path), length)
        else:
            os.ftruncate(handle, length)
        self.note("cut", self.number(path) if handle is None else os.fstat(handle).st_ino, length)

    def fsync(self, path, only_data, handle):
        self.note("fsync", os.fstat(handle).st_ino)

    # Names.

    def create(self, path, mode, info=None):
        handle = os.open(self.behind(path), os.O_RDWR | os.O_CREAT | os.O_EXCL, mode)
        self.note("name", path, os.fstat(handle).st_ino)
        return handle

    def mknod(self, path, mode, device):
        os.mknod(self.behind(path), mode, device)  # the socket: nobody misses it after a power cut

    def link(self, target, source):
        os.link(self.behind(source), self.behind(target))
        self.note("name", target, self.number(target))

    def unlink(self, path):
        os.unlink(self.behind(path))
        self.note("unname", path)

    def mkdir(self, path, mode):
        os.mkdir(self.behind(path), mode)
        self.note("name", path, "folder")

    def rmdir(self, path):
        os.rmdir(self.behind(path))
        self.note("unname", path)

    def rename(self, old, new):
        number = self.number(old)
        os.rename(self.behind(old), self.behind(new))
        self.note("rename", old, new, "folder" if os.path.isdir(self.behind(new)) else number)

    def fsyncdir(self, path, only_data, handle):
        self.note("fsync names", path)

    # What no promise hangs on.

    def chmod(self, path, mode):
        os.chmod(self.behind(path), mode)

    def chown(self, path, user, group):
        os.chown(self.behind(path), user, group)

    def utimens(self, path, times=None):
        os.utime(self.behind(path), ns=times)

    def setxattr(self, path, name, value, options, position=0):
        if name != "user.mark":
            raise FuseOSError(errno.ENOTSUP)
        self.note("mark", bytes(value).decode())
        return 0

    def getxattr(self, path, name, position=0):
        raise FuseOSError(errno.ENODATA)

    def destroy(self, path):
        self.log.close()


if len(sys.argv) != 4:
    sys.exit(__doc__)
# Whoever started this may have blocked the signal by which it is to end.
signal.pthread_sigmask(signal.SIG_SETMASK, [])
FUSE(Recorder(sys.argv[1], sys.argv[3]), sys.argv[2], foreground=True, nothreads=True, fsname="recorder", use_ino=True,
     hard_remove=True, big_writes=True, max_write=131072, default_permissions=True, allow_other=os.getuid() == 0)
