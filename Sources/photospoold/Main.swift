import Dispatch
import Glibc
import Service
import Synchronization

@main struct Main {
    /// Not `async`: the main thread would then sleep in Dispatch with every signal unblocked, and SIGTERM would end the
    /// process instead of stopping it.
    static func main() {
        SignalRoom.blockAll()
        let code = Atomic<Int32>(ExitCode.tryAgain)
        let done = DispatchSemaphore(value: 0)
        let arguments = CommandLine.arguments
        // The one task without a parent, everything else is below it; detached, for the main thread sleeps.
        Task.detached {
            code.store(await Program.run(arguments), ordering: .releasing)
            done.signal()
        }
        done.wait()
        exit(code.load(ordering: .acquiring))
    }
}
