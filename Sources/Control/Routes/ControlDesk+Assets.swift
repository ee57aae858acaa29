import ControlAPI
import Files
import HTTP
import PhotoModel
import Store

/// The catalog and its bytes.
extension ControlDesk {
    func assets(_ request: Request) throws(Problem) -> Reply {
        let query = try Query(request, allowing: ["from", "to", "camera", "limit", "after"])
        let filter = AssetFilter(
            from: try query.wallTime("from"), to: try query.wallTime("to", wholeDay: true), camera: query["camera"])
        return .json(
            list(try door.store.assets(filter, limit: try query.limit(), after: query["after"]), AssetBody.init))
    }

    func asset(_ id: String, _ request: Request) throws(Problem) -> Reply {
        _ = try Query(request, allowing: [])
        return .json(AssetBody(try asset(id)))
    }

    func preview(_ id: String, _ request: Request) throws(Problem) -> Reply {
        let query = try Query(request, allowing: ["size"])
        let asset = try asset(id)
        guard let path = asset.preview.path else {
            let why = asset.preview.problem.map { ": " + $0.whatHappened } ?? "."
            throw Problem(
                .notFound, "Asset \(id) has no preview (\(asset.preview.state.rawValue))" + why,
                todo: asset.preview.problem?.whatToDo ?? "Nothing; there is no picture in it.")
        }
        if let side = try side(query), side != asset.preview.size.map({ max($0.width, $0.height) }) {
            let picture = try door.view.picture(asset, side)
            return .file(
                picture.file, size: picture.size, mediaType: MediaType.jpeg.rawValue, etag: picture.tag, for: request)
        }
        let (file, stamp) = try open(path)
        // A preview is only ever replaced as a whole file, which changes inode and time.
        let version = [UInt64(bitPattern: stamp.mtime), stamp.inode, UInt64(bitPattern: stamp.size)]
        let etag = version.map { String($0, radix: 16) }.joined(separator: "-")
        return .file(file, size: stamp.size, mediaType: MediaType.jpeg.rawValue, etag: etag, for: request)
    }

    /// Converted from the original, for this request only.
    func export(_ id: String, _ request: Request) throws(Problem) -> Reply {
        let query = try Query(request, allowing: ["format", "max_size", "max_bytes", "strip_location"])
        let formats = ExportSpec.Format.allCases.map(\.rawValue).joined(separator: ", ")
        guard let format = ExportSpec.Format(rawValue: query["format"] ?? "") else {
            throw .bad("`format` is not one of \(formats).")
        }
        let side = try query.number("max_size")
        guard side.map({ (16...Int64(ExportSpec.mostSide)).contains($0) }) ?? true else {
            throw .bad("`max_size` is not a number from 16 to \(ExportSpec.mostSide).")
        }
        let most = try query.number("max_bytes")
        guard most != 0 else { throw .bad("`max_bytes` is not a number from 1 on.") }
        guard [nil, "0", "1"].contains(query["strip_location"]) else {
            throw .bad("`strip_location` is neither 0 nor 1.")
        }
        let spec = ExportSpec(
            format: format, maxBytes: most, stripsLocation: query["strip_location"] == "1")
        let picture = try door.view.export(try asset(id), side.map { Int($0) }, spec)
        var reply = Reply.file(
            picture.file, size: picture.size, mediaType: format.mediaType.rawValue, etag: picture.tag, for: request)
        reply.headers.append((PictureHeader.name, picture.isPartial ? PictureHeader.partial : PictureHeader.whole))
        return reply
    }

    private func side(_ query: Query) throws(Problem) -> Int? {
        guard let text = query["size"] else { return nil }
        guard let side = Int(text), String(side) == text, Self.sides.contains(side) else {
            throw .bad("`size` is not a number from \(Self.sides.lowerBound) to \(Self.sides.upperBound).")
        }
        return side
    }

    /// Of a picture that is made on request: as `preview.max_size` may be.
    private static let sides = 16...16_384

    /// Whether answering takes a decoder.
    func makesPicture(_ request: Request) -> Bool {
        guard let parts = request.segments, parts.count == 4, parts[1] == "assets" else { return false }
        return parts[3] == "export" || parts[3] == "preview" && request.query?.isEmpty == false
    }

    func original(_ id: String, _ number: String, _ request: Request) throws(Problem) -> Reply {
        _ = try Query(request, allowing: [])
        let asset = try asset(id)
        guard let position = Int(number), String(position) == number, asset.resources.indices.contains(position) else {
            throw .missing("Asset \(id) has no original \(SafeText.of(number, limit: 20)).")
        }
        let resource = asset.resources[position]
        let (file, stamp) = try open(resource.path)
        guard stamp.size == resource.size else {
            throw Problem(
                .libraryIO,
                "\(SafeText.of(resource.path)) has \(stamp.size) bytes, but was imported with \(resource.size).",
                todo: "Restore it from a backup; its SHA-256 is \(resource.sha256.hex).")
        }
        return .file(
            file, size: stamp.size, mediaType: resource.mediaType.rawValue, etag: resource.sha256.hex, for: request)
    }

    /// Into the trash, with a tombstone for each of its files.
    func deleteAsset(_ id: String, _ request: Request) throws(Problem) -> Reply {
        _ = try Query(request, allowing: [])
        let body = AssetBody(try asset(id))
        try door.orders.deleteAsset(id)
        return .json(body)
    }

    /// What was deleted may be imported again. The asset is gone; its id names the tombstones.
    func forget(_ id: String, _ request: Request) throws(Problem) -> Reply {
        let count = try door.orders.forgetAsset(id)
        guard count > 0 else { throw .missing("There is no tombstone of an asset \(SafeText.of(id, limit: 64)).") }
        return .json(ForgottenBody(forgotten: count))
    }

    private func asset(_ id: String) throws(Problem) -> Asset {
        guard let asset = try door.store.asset(id) else {
            throw .missing("There is no asset \(SafeText.of(id, limit: 64)).")
        }
        return asset
    }

    private func open(_ path: Path) throws(Problem) -> (OpenFile, FileStamp) {
        let library = try door.view.openLibrary()
        do throws(Errno) {
            let file = OpenFile(try library.openForReading(path))
            return (file, try file.descriptor.status().stamp)
        } catch {
            throw Problem(.libraryIO, "Could not open \(SafeText.of(path)) in the library: \(error).")
        }
    }
}
