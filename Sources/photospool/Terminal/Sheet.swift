/// One thing with its properties, labels to the right, as systemctl(1) shows a unit.
struct Sheet {
    var lines: [String]

    init(_ headline: String) { lines = [headline] }

    mutating func add(_ label: String, _ text: String) { add(label, [text]) }

    mutating func add(_ label: String, _ texts: [String]) {
        for (position, text) in texts.enumerated() where !text.isEmpty {
            lines.append(padded(position == 0 ? label + ":" : "", to: 11, right: true) + " " + text)
        }
    }
}
