import PhotoModel

/// Where the files of one shot are to stand in the library, for each try at a free name.
struct Placement: Sendable {
    let template: NamingTemplate
    let shot: NamingTemplate.Shot
    let suffixes: [Path]

    init(template: NamingTemplate, shot: NamingTemplate.Shot, names: [Path]) {
        self.template = template
        self.shot = shot
        suffixes = names.map { NamingTemplate.suffix(of: $0, after: shot.stem) }
    }

    /// One path a file, in order, relative to the library; all share their stem.
    func paths(collision: Int) -> [Path] {
        template.paths(for: shot, suffixes: suffixes, collision: collision)
    }

    /// The same final paths with another number, when only the paths are left, as in recovery: `IMG_0001.CR2.xmp` and
    /// `IMG_0001.CR2` become `IMG_0001-2.CR2.xmp` and `IMG_0001-2.CR2`.
    static func renumbered(_ paths: [Path], try number: Int) -> [Path] {
        let shared = paths.map { Array($0.name.bytes) }.reduce(nil) { (shared: [UInt8]?, name) in
            guard let shared else { return name }
            return Array(zip(shared, name).prefix { $0 == $1 }.map(\.0))
        }
        guard var stem = shared else { return paths }
        if let dot = stem.firstIndex(of: UInt8(ascii: ".")), dot > 0 { stem = Array(stem[..<dot]) }
        return paths.map { path in
            let rest = path.name.bytes.dropFirst(stem.count)
            return path.parent / Path(bytes: stem + Array("-\(number)".utf8) + rest)
        }
    }
}
