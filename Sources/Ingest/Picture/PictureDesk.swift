import Dispatch
package import Files
package import PhotoModel
package import Preview
import Synchronization

/// Pictures of assets in sizes that somebody asks for: made once, kept by ``PictureShelf``, and however many ask for the
/// same at once, decoded once.
///
/// One is decoded at a time, by a decoder of its own that takes its memory from the budget of all: whoever asks for many
/// waits for himself, and no import for him. Blocks; not on a thread that others need.
package final class PictureDesk: Sendable {
    package struct Picture: Sendable {
        package let file: OpenFile
        /// Bytes.
        package let size: Int64
        /// Of the content.
        package let tag: String
        /// Whether a part of the picture was missing or damaged in the original; not known of one that was kept.
        package var isPartial = false
    }

    /// One decode that is under way, and what became of it.
    private final class Flight: Sendable {
        let result = Mutex<Result<Picture, Problem>?>(nil)
        let isOver = DispatchGroup()
        init() { isOver.enter() }
    }

    private let library: @Sendable () -> Library?
    private let decoders: DecoderPool
    private let spec: @Sendable () -> PreviewSpec
    private let shelf: PictureShelf
    private let log: Log
    private let flights = Mutex<[String: Flight]>([:])
    private let turn = DispatchSemaphore(value: 1)
    /// Exports under way or waiting: they are not many, so that threads are left for what is kept already.
    private let exports = Mutex(0)
    private static let mostExports = 2

    /// - Parameters:
    ///   - decoders: of this desk alone.
    ///   - spec: colour, quality and limits.
    package init(
        library: @escaping @Sendable () -> Library?, decoders: DecoderPool, spec: @escaping @Sendable () -> PreviewSpec,
        shelf: PictureShelf, log: @escaping Log
    ) {
        self.library = library
        self.decoders = decoders
        self.spec = spec
        self.shelf = shelf
        self.log = log
    }

    package func stop() { decoders.stop() }

    /// An upright JPEG of the asset whose longer side is `side` pixels, or as long as the picture's.
    ///
    /// - Throws: what decoding it says; `E_LIBRARY_OFFLINE`, `E_BUSY` at the end of the daemon.
    package func picture(of asset: Asset, side: Int) throws(Problem) -> Picture {
        var spec = spec()
        spec.maxSize = side
        spec.renditions = []
        let key = "\(asset.id)-\(side)-\(spec.quality)\(spec.colour == .keep ? "k" : "s")"
        if let kept = shelf.take(key) { return Picture(file: kept.file, size: kept.size, tag: kept.tag) }
        let (flight, isFirst) = flights.withLock { flights in
            if let flight = flights[key] { return (flight, false) }
            let flight = Flight()
            flights[key] = flight
            return (flight, true)
        }
        if isFirst {
            turn.wait()
            let result: Result<Picture, Problem>
            do throws(Problem) { result = .success(try make(asset, spec, key)) } catch { result = .failure(error) }
            turn.signal()
            flight.result.withLock { $0 = result }
            flights.withLock { $0[key] = nil }
            flight.isOver.leave()
        } else {
            flight.isOver.wait()
        }
        guard let result = flight.result.withLock({ $0 }) else { throw Self.stopping }
        return try result.get()
    }

    /// The asset's best original that can be decoded, as a file of another format, with its metadata; of a video without a
    /// photo its frame. Made anew each time.
    ///
    /// - Parameter side: the longest, pixels; nil for all there are.
    /// - Throws: what decoding it says; `E_BUSY` where two are made already, `E_STATE_IO` where the disk has no room for it.
    package func export(_ asset: Asset, side: Int?, _ export: ExportSpec) throws(Problem) -> Picture {
        var spec = spec()
        spec.maxSize = side ?? ExportSpec.mostSide
        spec.renditions = []
        spec.colour = .keep
        spec.export = export
        let isFree = exports.withLock { count in
            guard count < Self.mostExports else { return false }
            count += 1
            return true
        }
        guard isFree else { throw Problem(.busy, "Two exports are being made already.") }
        defer { exports.withLock { $0 -= 1 } }
        turn.wait()
        defer { turn.signal() }
        guard let library = library() else {
            throw Problem(.libraryOffline, "The library is not there at the moment.")
        }
        let decoded = try decode(asset, spec, library)
        let bytes: [UInt8]
        do throws(Errno) { bytes = try decoded.read(decoded.preview) } catch {
            throw Problem(.memory, "The picture could not be taken over: \(error.description).")
        }
        let tag = String(SHA256.digest(of: bytes).hex.prefix(16))
        do throws(Errno) {
            return Picture(
                file: try shelf.unnamed(bytes), size: Int64(bytes.count), tag: tag, isPartial: decoded.isPartial)
        } catch {
            throw Problem(.stateIO, "The picture could not be written into the state directory: \(error.description).")
        }
    }

    private func make(_ asset: Asset, _ spec: PreviewSpec, _ key: String) throws(Problem) -> Picture {
        // Somebody else may have been quicker since it was looked for.
        if let kept = shelf.take(key) { return Picture(file: kept.file, size: kept.size, tag: kept.tag) }
        guard let library = library() else {
            throw Problem(.libraryOffline, "The library is not there at the moment.")
        }
        let decoded = try decode(asset, spec, library)
        log(LogLine(.debug, "A picture was made.", [("ASSET_ID", asset.id), ("SIZE", String(spec.maxSize))]))
        let bytes: [UInt8]
        do throws(Errno) { bytes = try decoded.read(decoded.preview) } catch {
            throw Problem(.memory, "The picture could not be taken over: \(error.description).")
        }
        let tag = String(SHA256.digest(of: bytes).hex.prefix(16))
        shelf.put(bytes, tag: tag, as: key)
        // From the disk, where it is there: a client that reads slowly then holds no memory.
        if let kept = shelf.take(key) { return Picture(file: kept.file, size: kept.size, tag: kept.tag) }
        do throws(Errno) {
            return Picture(file: try shelf.unnamed(bytes), size: Int64(bytes.count), tag: tag)
        } catch _ {}  // a full disk, which the shelf has told of: then from memory
        return Picture(file: OpenFile(decoded.intoBytes()), size: Int64(bytes.count), tag: tag)
    }

    /// From the preview where that is twice as large, else from the best original that can be decoded.
    private func decode(_ asset: Asset, _ spec: PreviewSpec, _ library: Library) throws(Problem) -> DecodedPreview {
        if spec.export == nil, let path = asset.preview.path, let size = asset.preview.size,
            2 * spec.maxSize <= max(size.width, size.height)
        {
            do throws(Problem) { return try decode(path, spec, library) } catch {
                if error.code.isOutage { throw error }  // else it is gone or damaged, and the original is not
            }
        }
        var candidates = asset.resources
            .filter { PreviewStep.roles.contains($0.role) && $0.mediaType.previewRank < 9 }
            .sorted { $0.mediaType.previewRank < $1.mediaType.previewRank }
        // Whoever wants a photo is not given a frame of the video beside it.
        if spec.export != nil, candidates.contains(where: \.mediaType.isStill) {
            candidates.removeAll { !$0.mediaType.isStill }
        }
        var first: Problem?
        for resource in candidates {
            do throws(Problem) { return try decode(resource.path, spec, library) } catch {
                if error.code.isOutage { throw error }
                first = first ?? error
            }
        }
        throw first ?? Problem(.notFound, "There is no picture in asset \(asset.id).")
    }

    private func decode(_ path: Path, _ spec: PreviewSpec, _ library: Library) throws(Problem) -> DecodedPreview {
        let file = try onLibrary(path, doing: "open") { () throws(Errno) in try library.root.openForReading(path) }
        let size = try onLibrary(path, doing: "look at") { () throws(Errno) in try file.status().stamp.size }
        do throws(DecoderFailure) {
            let inspection = try decoders.inspect(file, size: size, name: path.name, isCancelled: { false })
            return try decoders.preview(
                file, size: size, inspection: inspection, spec: spec, name: path.name, isCancelled: { false })
        } catch {
            switch error {
            case .problem(let problem): throw problem
            case .cancelled: throw Self.stopping
            }
        }
    }

    private static var stopping: Problem { Problem(.busy, "The service is stopping.") }
}
