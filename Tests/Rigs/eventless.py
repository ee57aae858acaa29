#!/usr/bin/python3
"""Shows a folder once more at a mount point, where no event tells of what is done behind it: a share without a server.

    eventless.py BACK MOUNT [--fold | --short | --windows]       in the foreground, until MOUNT is unmounted

Whatever reaches BACK by its own path appears at MOUNT as if another machine had written it there. What is done through
MOUNT goes to BACK. A rename that must not replace anything is not understood, as on NFS. With --fold names that differ in
case only, or in how an accent is composed, are one, and the first way of writing it stays, as on ext4 with casefold. With
--short a name has at most 143 bytes, as where names are encrypted (eCryptfs, and so the shares of many a NAS). With --windows
nothing can be made under a name that Windows does not know, as on exFAT.
"""
# python3-fusepy is the distribution's, and so belongs to its own python3.
import errno, os, sys, unicodedata

from fusepy import FUSE, FuseOSError, Operations


def told(call):
    """What the system says of BACK is what MOUNT says."""
    def method(*arguments):
        try:
            return call(*arguments)
        except OSError as error:
            raise FuseOSError(error.errno) from error
    return method


class Mirror(Operations):
    use_ns = True

    def __init__(self, back):
        self.back = os.path.abspath(back)

    def behind(self, path):
        return self.back + path

    @told
    def getattr(self, path, handle=None):
        found = os.lstat(self.behind(path))
        return {
            "st_ino": found.st_ino, "st_mode": found.st_mode, "st_nlink": found.st_nlink, "st_uid": found.st_uid,
            "st_gid": found.st_gid, "st_size": found.st_size, "st_blocks": found.st_blocks,
            "st_atime": found.st_atime_ns, "st_mtime": found.st_mtime_ns, "st_ctime": found.st_ctime_ns}

    @told
    def readdir(self, path, handle):
        return [".", "..", *os.listdir(self.behind(path))]

    @told
    def readlink(self, path):
        return os.readlink(self.behind(path))

    @told
    def statfs(self, path):
        found = os.statvfs(self.behind(path))
        names = ("f_bsize", "f_frsize", "f_blocks", "f_bfree", "f_bavail", "f_files", "f_ffree", "f_favail", "f_namemax")
        return {name: getattr(found, name) for name in names}

    @told
    def open(self, path, flags):
        return os.open(self.behind(path), flags & ~os.O_NOFOLLOW)

    @told
    def create(self, path, mode, info=None):
        return os.open(self.behind(path), os.O_RDWR | os.O_CREAT | os.O_TRUNC, mode)

    @told
    def read(self, path, size, offset, handle):
        return os.pread(handle, size, offset)

    @told
    def write(self, path, data, offset, handle):
        return os.pwrite(handle, data, offset)

    @told
    def truncate(self, path, length, handle=None):
        os.truncate(self.behind(path), length)

    @told
    def fsync(self, path, only_data, handle):
        os.fsync(handle)

    def fsyncdir(self, path, only_data, handle):
        return 0

    @told
    def release(self, path, handle):
        os.close(handle)

    @told
    def mkdir(self, path, mode):
        os.mkdir(self.behind(path), mode)

    @told
    def rmdir(self, path):
        os.rmdir(self.behind(path))

    @told
    def unlink(self, path):
        os.unlink(self.behind(path))

    @told
    def rename(self, old, new):
        os.rename(self.behind(old), self.behind(new))

    @told
    def chmod(self, path, mode):
        os.chmod(self.behind(path), mode)

    @told
    def chown(self, path, user, group):
        os.chown(self.behind(path), user, group)

    @told
    def utimens(self, path, times=None):
        os.utime(self.behind(path), ns=times)


class Folding(Mirror):
    """A name that is no text, or that nothing is like, stands for itself."""

    @staticmethod
    def folded(name):
        return unicodedata.normalize("NFC", unicodedata.normalize("NFD", name).casefold())

    def behind(self, path):
        found = self.back
        for name in path.split("/")[1:]:
            try:
                there = os.listdir(found)
            except OSError:
                there = []
            if name not in there:
                name = next((other for other in there if self.folded(other) == self.folded(name)), name)
            found += "/" + name
        return found

    @told
    def link(self, new, old):
        os.link(self.behind(old), self.behind(new))


class Short(Mirror):
    longest = 143

    def behind(self, path):
        if any(len(os.fsencode(name)) > self.longest for name in path.split("/")):
            raise OSError(errno.ENAMETOOLONG, "too long")
        return super().behind(path)

    def statfs(self, path):
        return {**super().statfs(path), "f_namemax": self.longest}

    @told
    def link(self, new, old):
        os.link(self.behind(old), self.behind(new))


class Windows(Mirror):
    """Looking for such a name finds nothing; making it is refused."""

    @staticmethod
    def check(path):
        for name in map(os.fsencode, path.split("/")[1:]):
            if set(name) & set(b'"*:<>?\\|') or min(name, default=32) < 32 or name.endswith((b".", b" ")):
                raise FuseOSError(errno.EINVAL)
            try:
                name.decode()
            except UnicodeDecodeError:
                raise FuseOSError(errno.EINVAL) from None

    def create(self, path, mode, info=None):
        self.check(path)
        return super().create(path, mode, info)

    def mkdir(self, path, mode):
        self.check(path)
        super().mkdir(path, mode)

    def rename(self, old, new):
        self.check(new)
        super().rename(old, new)

    @told
    def link(self, new, old):
        self.check(new)
        os.link(self.behind(old), self.behind(new))


kinds = {(): Mirror, ("--fold",): Folding, ("--short",): Short, ("--windows",): Windows}
if len(sys.argv) < 3 or tuple(sys.argv[3:]) not in kinds:
    sys.exit(__doc__)
FUSE(kinds[tuple(sys.argv[3:])](sys.argv[1]), sys.argv[2], foreground=True, nothreads=True, fsname="eventless", use_ino=True,
     default_permissions=True, allow_other=os.getuid() == 0)
