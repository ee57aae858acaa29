/// The properties of an XMP packet by their full names, whatever prefixes it uses and however it writes them: as attributes or
/// as elements, of one `rdf:Description` or several (XMP specification part 1, 7).
struct XMPProperties {
    /// A name as it stands in the specification; resolved by its namespace.
    typealias Name = String

    /// Of the photo itself. The first item stands for a list.
    private(set) var photo: [Name: String] = [:]
    /// Of what is described inside of properties: the places shown, the items of a container.
    private(set) var parts: [[Name: String]] = []

    subscript(name: Name) -> String? { photo[name] }

    /// - Parameter packet: UTF-8 or UTF-16. What is wrong in it costs what stands behind, and nothing else.
    init(_ packet: [UInt8]) {
        guard let reader = XMLReader() else { return }
        let builder = Builder()
        reader.read(Self.readable(packet), to: builder)
        builder.finish()
        photo = builder.photo
        parts = builder.parts
    }

    /// Without what no XML may hold, and which photos hold all the same: blank space in front of the declaration, control
    /// characters, text that is no UTF-8.
    private static func readable(_ packet: [UInt8]) -> [UInt8] {
        let start = packet.firstIndex(of: UInt8(ascii: "<")) ?? packet.endIndex
        let text = packet[start...].map { $0 < 0x20 && $0 != 0x09 && $0 != 0x0A && $0 != 0x0D ? 0x20 : $0 }
        return Array(String(decoding: text, as: UTF8.self).utf8)
    }

    /// The namespaces that are asked for, by the prefixes that the specifications use. These hold where a packet forgot to
    /// declare them, too.
    private static let namespaces = [
        "rdf": "http://www.w3.org/1999/02/22-rdf-syntax-ns#",
        "xmp": "http://ns.adobe.com/xap/1.0/",
        "exif": "http://ns.adobe.com/exif/1.0/",
        "exifEX": "http://cipa.jp/exif/1.0/",
        "aux": "http://ns.adobe.com/exif/1.0/aux/",
        "tiff": "http://ns.adobe.com/tiff/1.0/",
        "photoshop": "http://ns.adobe.com/photoshop/1.0/",
        "GCamera": "http://ns.google.com/photos/1.0/camera/",
        "Item": "http://ns.google.com/photos/1.0/container/item/",
    ]
    private static let prefixes = Dictionary(uniqueKeysWithValues: namespaces.map { ($1, $0) })
    private static let aliases = ["xap": "xmp", "Camera": "GCamera"]

    private final class Builder: XMLListener {
        var photo: [Name: String] = [:]
        var parts: [[Name: String]] = []

        private struct Element {
            var name: Name
            /// Namespaces by the prefixes that are declared here.
            var declared: [String: String]
            var properties: [Name: String] = [:]
            var text: [UInt8] = []
            var hasElements = false
            /// The first item of the list that it is or holds.
            var item: String?
        }
        private var open: [Element] = []
        /// Elements that lie too deep, or are too many, to be read.
        private var skipped = 0
        private var count = 0

        func open(_ name: String, attributes: [(name: String, value: String)]) {
            count += 1
            guard skipped == 0, open.count < 64, count < 100_000 else {
                skipped += 1
                return
            }
            if !open.isEmpty { open[open.count - 1].hasElements = true }
            var declared: [String: String] = [:]
            for (name, value) in attributes where name.hasPrefix("xmlns:") {
                declared[String(name.dropFirst(6))] = value
            }
            open.append(Element(name: "", declared: declared))
            open[open.count - 1].name = resolved(name)
            for (name, value) in attributes {
                let name = resolved(name)
                if name.contains(":"), !name.hasPrefix("rdf:"), let value = FactText.clean(value.utf8) {
                    open[open.count - 1].properties[name] = value
                }
            }
        }

        func text(_ part: [UInt8]) {
            guard skipped == 0, let last = open.indices.last, open[last].text.count < 4096 else { return }
            open[last].text += part.prefix(4096)
        }

        func close() {
            guard skipped == 0 else {
                skipped -= 1
                return
            }
            guard let element = open.popLast() else { return }
            let value = element.hasElements ? element.item : FactText.clean(element.text)
            if !element.properties.isEmpty {
                let isPhoto = element.name == "rdf:Description" && !open.contains { $0.name == "rdf:Description" }
                if isPhoto {
                    photo.merge(element.properties) { first, _ in first }
                } else {
                    parts.append(element.properties)
                }
            }
            guard let parent = open.indices.last, let value else { return }
            switch element.name {
            case "rdf:li", "rdf:Seq", "rdf:Alt", "rdf:Bag": open[parent].item = open[parent].item ?? value
            case "rdf:Description", "rdf:RDF": break
            default: open[parent].properties[element.name] = open[parent].properties[element.name] ?? value
            }
        }

        /// What a damaged packet left open ends where it is damaged.
        func finish() {
            skipped = 0
            // Of a text that was cut nobody knows how it went on.
            if let last = open.indices.last { open[last].hasElements = true }
            while !open.isEmpty { close() }
        }

        /// By the specifications' prefix where its namespace is one that is asked for, else as it stands.
        private func resolved(_ name: String) -> Name {
            guard let colon = name.firstIndex(of: ":") else { return name }
            let prefix = String(name[..<colon])
            let space = open.reversed().lazy.compactMap { $0.declared[prefix] }.first
            let usual: String
            if let space {
                // One that is not asked for must not pass for one that is.
                usual = prefixes[space] ?? (namespaces[prefix] == nil ? prefix : "other")
            } else {
                usual = aliases[prefix] ?? prefix
            }
            return usual + name[colon...]
        }
    }
}
