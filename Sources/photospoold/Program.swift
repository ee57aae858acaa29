import Config
import Files
import Glibc
import PhotoModel
import Service

/// From the command line to an exit code.
enum Program {
    static func run(_ arguments: [String]) async -> Int32 {
        let options: Options
        do throws(Options.Fault) {
            options = try Options(arguments.dropFirst())
        } catch {
            say("photospoold: \(error.sentence)\nTry `photospoold --help`.\n", to: STDERR_FILENO)
            return ExitCode.usage
        }
        switch options.act {
        case .showHelp:
            say(Options.help, to: STDOUT_FILENO)
            return ExitCode.ok
        case .showVersion:
            say("photospoold \(Release.version)\n", to: STDOUT_FILENO)
            return ExitCode.ok
        case .checkConfiguration, .run: return await configured(options)
        }
    }

    private static func configured(_ options: Options) async -> Int32 {
        let source = ConfigurationSource(options: options)
        let settings: Settings
        do throws(ConfigurationSource.Refusal) {
            settings = try source.load()
        } catch {
            say(error.text + "\n", to: STDERR_FILENO)
            return ExitCode.configuration
        }
        if options.act == .checkConfiguration {
            say("The configuration is valid.\n", to: STDOUT_FILENO)
            return ExitCode.ok
        }
        let journal = Journal(level: settings.logLevel, sink: .standardError())
        let activation: SocketActivation?
        do throws(Errno) {
            activation = try SocketActivation()
        } catch {
            journal.add(
                LogLine(
                    .warning, "The sockets of the service manager could not be taken over.", [("ERRNO", error.name)]))
            activation = nil
        }
        do throws(Problem) {
            let daemon = try Daemon(
                settings: settings, source: source, isOnce: options.isOnce, journal: journal, activation: activation)
            return await daemon.run()
        } catch {
            journal.add(LogLine(.error, error))
            journal.flush()
            return error.code == .config || error.code == .overlap ? ExitCode.configuration : ExitCode.tryAgain
        }
    }

    /// Straight to the descriptor: what cannot be said to a closed pipe is lost on purpose.
    static func say(_ text: String, to descriptor: Int32) {
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let written = unsafe rest.withUnsafeBytes { unsafe write(descriptor, $0.baseAddress, $0.count) }
            guard written > 0 else { return }
            rest = rest.dropFirst(written)
        }
    }
}

/// sysexits(3), where they have a name for it.
enum ExitCode {
    static let ok: Int32 = 0
    /// `--once`: a job failed.
    static let failed: Int32 = 1
    static let usage: Int32 = 64
    static let tryAgain: Int32 = 75
    static let configuration: Int32 = 78
}
