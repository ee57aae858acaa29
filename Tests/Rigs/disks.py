#!/usr/bin/python3
"""Shows the files of a folder as disks: whatever a filesystem sends to one of them is written down in order, and passed on.

    disks.py FOLDER MOUNT LOG    in the foreground, until MOUNT is unmounted

Each disk is to be mounted over a loop device. A program marks a moment by setting the attribute `user.mark` of MOUNT. The
log is a series of pickled tuples: ("write", disk, place, bytes), ("flush", disk), ("mark", text).
"""
# python3-fusepy is the distribution's, and so belongs to its own python3.
import errno, os, pickle, stat, sys

from fusepy import FUSE, FuseOSError, Operations


class Disks(Operations):
    use_ns = True

    def __init__(self, folder, log):
        self.disks = {f"/{name}": os.open(f"{folder}/{name}", os.O_RDWR) for name in os.listdir(folder)}
        self.log = open(log, "wb")

    def note(self, *what):
        pickle.dump(what, self.log, pickle.HIGHEST_PROTOCOL)

    def getattr(self, path, handle=None):
        if path == "/":
            return {"st_mode": stat.S_IFDIR | 0o755, "st_nlink": 2}
        if path not in self.disks:
            raise FuseOSError(errno.ENOENT)
        return {"st_mode": stat.S_IFREG | 0o600, "st_nlink": 1, "st_size": os.fstat(self.disks[path]).st_size}

    def readdir(self, path, handle):
        return [".", "..", *(name[1:] for name in self.disks)]

    def read(self, path, size, place, handle):
        return os.pread(self.disks[path], size, place)

    def write(self, path, data, place, handle):
        count = os.pwrite(self.disks[path], data, place)
        self.note("write", path[1:], place, data[:count])
        return count

    def fsync(self, path, only_data, handle):
        self.note("flush", path[1:])

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
FUSE(Disks(sys.argv[1], sys.argv[3]), sys.argv[2], foreground=True, nothreads=True, fsname="disks", big_writes=True,
     max_write=131072, default_permissions=True)
