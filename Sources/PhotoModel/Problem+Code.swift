extension Problem {
    /// Stored, printed and matched on: never renamed, never used again for something else.
    package enum Code: String, CaseIterable, Codable, Sendable {
        case unsupported = "E_UNSUPPORTED"
        case corrupt = "E_CORRUPT"
        case truncated = "E_TRUNCATED"
        case tooLarge = "E_TOO_LARGE"
        case decodeTimeout = "E_DECODE_TIMEOUT"
        case decoderCrash = "E_DECODER_CRASH"
        case poison = "E_POISON"
        case encode = "E_ENCODE"
        case empty = "E_EMPTY"

        case sourceChanged = "E_SOURCE_CHANGED"
        case sourceBusy = "E_SOURCE_BUSY"
        case sourceIO = "E_SOURCE_IO"
        case sourcePermission = "E_SOURCE_PERMISSION"
        case libraryIO = "E_LIBRARY_IO"
        case libraryFull = "E_LIBRARY_FULL"
        case libraryPermission = "E_LIBRARY_PERMISSION"
        case libraryOffline = "E_LIBRARY_OFFLINE"
        case stateIO = "E_STATE_IO"
        case verifyMismatch = "E_VERIFY_MISMATCH"
        case memory = "E_MEMORY"
        case staleHandle = "E_STALE_HANDLE"

        case sourceVanished = "E_SOURCE_VANISHED"
        case tombstone = "E_TOMBSTONE"
        case orphan = "E_ORPHAN"
        case filtered = "E_FILTERED"

        case notFound = "E_NOT_FOUND"
        case badRequest = "E_BAD_REQUEST"
        case forbidden = "E_FORBIDDEN"
        case conflict = "E_CONFLICT"
        case tooBig = "E_TOO_BIG"
        case busy = "E_BUSY"

        case dropOpen = "W_DROP_OPEN"
        case leaseUnknown = "W_LEASE_UNKNOWN"
        case watchLimit = "W_WATCH_LIMIT"
        case clock = "W_CLOCK"

        case disposition = "E_DISPOSITION"
        case decoderMissing = "E_DECODER_MISSING"
        case config = "E_CONFIG"
        case overlap = "E_OVERLAP"
        case locked = "E_LOCKED"
        case marker = "E_MARKER"
        case stateStale = "E_STATE_STALE"

        /// Whether a later attempt can succeed although nobody did anything.
        package var isTransient: Bool {
            switch self {  // no `default`: a new code has to choose
            case .sourceChanged, .sourceBusy, .sourceIO, .sourcePermission, .libraryIO, .libraryFull,
                .libraryPermission,
                .libraryOffline, .stateIO, .verifyMismatch, .memory, .staleHandle, .busy, .decoderMissing, .marker:
                true
            case .unsupported, .corrupt, .truncated, .tooLarge, .decodeTimeout, .decoderCrash, .poison, .encode, .empty,
                .sourceVanished, .tombstone, .orphan, .filtered, .notFound, .badRequest, .forbidden, .conflict, .tooBig,
                .dropOpen, .leaseUnknown, .watchLimit, .clock, .disposition, .config, .overlap, .locked, .stateStale:
                false
            }
        }

        /// Whether the cause lies in the file itself, so that the whole import rolls back under
        /// `on_preview_failure = "rollback"`; otherwise the fault is ours and the original is imported.
        package var blamesFile: Bool {
            switch self {
            case .corrupt, .empty: true
            default: false  // everything else is a limit, a missing decoder or the machine's trouble
            }
        }

        /// Whether work as a whole has to wait, because any other job would meet the same fault.
        package var isOutage: Bool {
            switch self {
            case .libraryOffline, .libraryFull, .marker, .stateIO, .stateStale, .decoderMissing, .memory: true
            default: false  // the fault of one job
            }
        }
    }
}
