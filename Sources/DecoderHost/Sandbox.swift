import CLinux
import CSeccomp
import Files
import Glibc

/// Why the process could not be locked in. There is no half sandbox: whoever gets this must not touch a photo.
package struct SandboxFailure: Error {
    package let detail: String
}

/// Takes from this process everything that decoding does not need, for good: descriptors that are already open, memory
/// and arithmetic stay. To be called once all libraries are loaded.
package enum Sandbox {
    /// Address space: the memory limit of a decoder.
    package static let memoryLimit: UInt64 = 2 << 30
    /// Bytes of one written file: the finished preview.
    package static let fileLimit: UInt64 = 64 << 20

    package static func enter() throws(SandboxFailure) {
        try limit()
        let failure = cl_harden_self()
        guard failure == 0 else { throw SandboxFailure(detail: "prctl: \(Errno(rawValue: failure).description)") }
        try landlock()
        try seccomp()
    }

    private static func limit() throws(SandboxFailure) {
        let limits: [(String, Int, UInt64)] = [
            ("core", CL_RLIMIT_CORE, 0),
            ("memlock", CL_RLIMIT_MEMLOCK, 0),
            ("nofile", CL_RLIMIT_NOFILE, 64),
            ("fsize", CL_RLIMIT_FSIZE, fileLimit),
            ("as", CL_RLIMIT_AS, memoryLimit),
        ]
        for (name, resource, value) in limits {
            let failure = cl_limit_self(Int32(resource), value)
            guard failure == 0 else {
                throw SandboxFailure(detail: "the limit \(name) was refused: \(Errno(rawValue: failure).description)")
            }
        }
        // Unlike the limit on processor time, which the parent sets anew for each request, this signal would only kill
        // without a word what can be reported: write(2) then fails with EFBIG.
        signal(SIGXFSZ, SIG_IGN)
    }

    private static func landlock() throws(SandboxFailure) {
        let failure = cl_landlock_everything()
        guard failure == 0 else {
            throw SandboxFailure(
                detail: "landlock is not there: \(Errno(rawValue: failure).description); "
                    + "the kernel must be 5.13 or newer and have it enabled")
        }
    }

    /// What the Swift runtime, glibc and the decoding libraries call once they are loaded, and nothing else; found with
    /// strace over the corpus. Everything that is not named here ends the process (SIGSYS).
    private static let allowed = [
        "read", "pread64", "write", "pwrite64", "lseek", "fstat", "close", "ftruncate", "recvmsg", "sendmsg", "poll",
        "munmap", "mremap", "brk", "madvise",
        "futex", "sched_yield", "sched_getaffinity", "set_robust_list", "rseq", "gettid", "getpid",
        "rt_sigreturn", "rt_sigprocmask", "rt_sigaction", "sigaltstack", "restart_syscall", "exit", "exit_group",
        "clock_gettime", "clock_nanosleep", "getrandom", "getrusage",
        "sysinfo",  // glibc's qsort, which libtiff uses, asks how much memory there is, and takes no "no" for an answer
    ]

    /// What libraries try and can do without: better told no than killed.
    private static let refused: [(String, Int32)] = [
        ("openat", EACCES),  // sysfs for the number of cores, locales, /dev/urandom
        ("prctl", EPERM),  // names of threads
        ("get_mempolicy", ENOSYS),  // the HEVC encoder asks for NUMA, and then has none
        ("clone3", ENOSYS),  // glibc then uses clone, whose flags a filter can see
        ("sched_setaffinity", EPERM), ("sched_setscheduler", EPERM),
    ]

    private static func seccomp() throws(SandboxFailure) {
        guard let filter = unsafe seccomp_init(shim_kill_process) else {
            throw SandboxFailure(detail: "seccomp could not be set up")
        }
        defer { unsafe seccomp_release(filter) }
        var rules = allowed.map { (name: $0, action: shim_allow, conditions: [scmp_arg_cmp]()) }
        rules += refused.map { ($0.0, shim_fail_with($0.1), []) }
        let executable = UInt64(PROT_EXEC)
        rules.append(("mmap", shim_allow, [shim_masked_equal(2, executable, 0)]))
        rules.append(("mprotect", shim_allow, [shim_masked_equal(2, executable, 0)]))
        // A thread of this process, not another process.
        let thread = UInt64(CL_CLONE_THREAD)
        rules.append(("clone", shim_allow, [shim_masked_equal(0, thread, thread)]))
        // fstat of an open descriptor as glibc spells it, not stat of a path.
        let empty = UInt64(CL_AT_EMPTY_PATH)
        rules.append(("newfstatat", shim_allow, [shim_masked_equal(3, empty, empty)]))
        // abort(3), so that giving up is told from breaking out. Of itself only.
        rules.append(("tgkill", shim_allow, [shim_equal(0, UInt64(getpid()))]))
        for rule in rules {
            let number = unsafe seccomp_syscall_resolve_name(rule.name)
            guard number != __NR_SCMP_ERROR else { throw SandboxFailure(detail: "seccomp does not know \(rule.name)") }
            let code = unsafe seccomp_rule_add_array(
                filter, rule.action, number, UInt32(rule.conditions.count), rule.conditions)
            guard code == 0 else { throw SandboxFailure(detail: "seccomp refused the rule for \(rule.name)") }
        }
        let code = unsafe seccomp_load(filter)
        guard code == 0 else {
            throw SandboxFailure(detail: "seccomp is not there: \(Errno(rawValue: -code).description)")
        }
    }
}
