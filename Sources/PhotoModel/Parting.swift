/// Which files of one stem are one shot, once their contents were looked at.
///
/// Two cameras count from 1 as well, and a phone's counter rolls over: files of one name may be of several shots. They are
/// parted when they say so themselves: by another content identifier, or, where one of two has none, by a capture time
/// that differs by more than ``CaptureDate/tolerance``. What says nothing stays with the first.
package enum Parting {
    package struct Member: Sendable {
        /// Of the source.
        package var name: Path
        /// Whether it can be a shot by itself.
        package var isShot: Bool
        package var contentIdentifier: String?
        /// When the file itself says that it was taken.
        package var date: CaptureDate?
        /// Nothing can be made of it: it ends by itself, and takes along only what is of it by name.
        package var isBroken: Bool

        package init(
            name: Path, isShot: Bool, contentIdentifier: String?, date: CaptureDate?, isBroken: Bool = false
        ) {
            self.name = name
            self.isShot = isShot
            self.contentIdentifier = contentIdentifier
            self.date = date
            self.isBroken = isBroken
        }
    }

    /// Every position is in exactly one part, in its order; a part without a photo or video is only there when there is
    /// none at all.
    package static func parts(of members: [Member]) -> [[Int]] {
        var parts: [[Int]] = []
        var heads: [Head] = []
        let shots = members.indices.filter { members[$0].isShot }
        guard !shots.isEmpty else { return members.isEmpty ? [] : [Array(members.indices)] }
        for position in shots {
            let member = members[position]
            if let place = place(of: member, among: heads) {
                parts[place].append(position)
                heads[place].learn(member)
            } else {
                parts.append([position])
                heads.append(Head(member))
            }
        }
        for position in members.indices where !members[position].isShot {
            let own = place(ofCompanion: members[position], members, shots, parts)
            parts[own].append(position)
        }
        return parts.map { $0.sorted() }
    }

    /// What a part says of its shot: the first word of its files counts.
    private struct Head {
        var identifier: String?
        var date: CaptureDate?
        let isBroken: Bool

        init(_ member: Member) {
            identifier = member.contentIdentifier
            date = member.date
            isBroken = member.isBroken
        }

        mutating func learn(_ member: Member) {
            identifier = identifier ?? member.contentIdentifier
            date = date ?? member.date
        }

        func agrees(_ member: Member) -> Bool {
            if let identifier, let other = member.contentIdentifier { return identifier == other }
            guard let date, let other = member.date else { return true }
            return date.agrees(other)
        }
    }

    private static func place(of member: Member, among heads: [Head]) -> Int? {
        if member.isBroken { return nil }
        if let identifier = member.contentIdentifier,
            let same = heads.firstIndex(where: { $0.identifier == identifier })
        {
            return same
        }
        return heads.firstIndex { !$0.isBroken && $0.agrees(member) }
    }

    /// With the file that it is of. One that has only the stem and a time of its own goes where that time is; people
    /// correct times in sidecars, so where it is nowhere it says nothing.
    private static func place(
        ofCompanion companion: Member, _ members: [Member], _ shots: [Int], _ parts: [[Int]]
    ) -> Int {
        let names = shots.map { members[$0].name }
        let isNamed = ShotName(companion.name).target.flatMap { Attachment.named($0, among: names) } != nil
        if !isNamed, let date = companion.date {
            let agreeing = parts.indices.filter { part in
                parts[part].contains { members[$0].date?.agrees(date) ?? false }
            }
            if agreeing.count == 1 { return agreeing[0] }
        }
        guard let member = Attachment.member(of: companion.name, among: names) else { return 0 }
        return parts.firstIndex { $0.contains(shots[member]) } ?? 0
    }
}

extension CaptureDate {
    /// XMP may tell the day alone; it is read as midnight.
    fileprivate var isDayAlone: Bool {
        source == .xmp && offset == nil && (time.hour, time.minute, time.second) == (0, 0, 0)
    }
}

extension Inspection {
    /// When the file itself says that it was taken. The time of a modification does not count: it tells when a program
    /// saved the file, and an edited JPEG is of the same shot as its RAW.
    package func ownDate(now: Timestamp) -> CaptureDate? {
        for source in [DateSource.exifOriginal, .exifDigitized, .xmp, .quicktime] {
            let date = dates.first { $0.source == source && $0.isPlausible(now: now) && !$0.isDayAlone }
            if let date { return date }
        }
        return nil
    }
}
