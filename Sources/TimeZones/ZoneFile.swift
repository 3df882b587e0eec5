/// Why the bytes of a file are no time zone.
package struct ZoneFileProblem: Error, Sendable, Hashable {
    /// What is wrong, as the end of a sentence that begins with the file's name.
    package var reason: String

    init(_ reason: String) { self.reason = reason }
}

extension Zone {
    /// Reads a file of tzdata: TZif, of version 2 or later.
    ///
    /// Its first part, for readers of 32-bit times, is passed over; so is what says how a zone's time is called.
    /// Nothing that the bytes say is believed before it is looked at: a file may be cut off, or somebody's joke.
    package init(name: String, file bytes: [UInt8]) throws(ZoneFileProblem) {
        var reader = ZoneFileReader(bytes: bytes)
        let old = try reader.header()
        guard old.version >= UInt8(ascii: "2") else {
            throw ZoneFileProblem("is of version 1, which ends in 2037; version 2 is needed")
        }
        _ = try reader.take(old.length(ofTime: 4))
        let header = try reader.header()
        guard header.types > 0, header.names > 0 else {
            throw ZoneFileProblem("names no local time")
        }
        guard header.leaps == 0 else {
            throw ZoneFileProblem("counts leap seconds, which no other clock here does")
        }
        let moments = try reader.take(header.times * 8)
        let kinds = Array(try reader.take(header.times))
        let types = try reader.take(header.types * 6)
        _ = try reader.take(header.names + header.standards + header.universals)
        let offsets = try Zone.offsets(types, names: header.names)
        first = offsets[0]
        changes = try Zone.changes(moments, kinds, offsets)
        rule = try reader.rule()
        self.name = name
    }

    private static func offsets(
        _ types: ArraySlice<UInt8>, names: Int
    ) throws(ZoneFileProblem) -> [Int64] {
        var offsets: [Int64] = []
        for start in stride(from: types.startIndex, to: types.endIndex, by: 6) {
            let offset = Int64(Int32(truncatingIfNeeded: number(types[start..<start + 4])))
            guard offset.magnitude < farthest.magnitude else {
                throw ZoneFileProblem("has a clock that is \(offset) seconds from UTC")
            }
            guard types[start + 4] <= 1, types[start + 5] < names else {
                throw ZoneFileProblem("describes a local time wrongly")
            }
            offsets.append(offset)
        }
        return offsets
    }

    private static func changes(
        _ moments: ArraySlice<UInt8>, _ kinds: [UInt8], _ offsets: [Int64]
    ) throws(ZoneFileProblem) -> [Change] {
        var changes: [Change] = []
        changes.reserveCapacity(kinds.count)
        for (place, kind) in kinds.enumerated() {
            let start = moments.startIndex + place * 8
            let moment = Int64(bitPattern: number(moments[start..<start + 8]))
            if let last = changes.last, last.moment >= moment {
                throw ZoneFileProblem("has changes that are not in the order of time")
            }
            guard Int(kind) < offsets.count else {
                throw ZoneFileProblem("changes to a local time that it does not describe")
            }
            changes.append(Change(moment: moment, offset: offsets[Int(kind)]))
        }
        return changes
    }

    private static func number(_ bytes: ArraySlice<UInt8>) -> UInt64 {
        bytes.reduce(0) { $0 << 8 | UInt64($1) }
    }
}

/// Reads the parts of a TZif file, front to back.
private struct ZoneFileReader {
    /// How many of what there are in the data behind it.
    struct Header {
        var version: UInt8
        var universals = 0
        var standards = 0
        var leaps = 0
        var times = 0
        var types = 0
        var names = 0

        /// How long the data are, where a time takes so many bytes.
        func length(ofTime time: Int) -> Int {
            times * (time + 1) + types * 6 + names + leaps * (time + 4) + standards + universals
        }
    }

    let bytes: [UInt8]
    var position = 0

    mutating func take(_ count: Int) throws(ZoneFileProblem) -> ArraySlice<UInt8> {
        guard count <= bytes.count - position else {
            throw ZoneFileProblem("is cut off: \(bytes.count) bytes are too few")
        }
        defer { position += count }
        return bytes[position..<position + count]
    }

    mutating func header() throws(ZoneFileProblem) -> Header {
        guard Array(try take(4)) == Array("TZif".utf8) else {
            throw ZoneFileProblem("is no TZif file")
        }
        guard let version = try take(1).first else { throw ZoneFileProblem("is cut off") }
        _ = try take(15)
        var header = Header(version: version)
        header.universals = try count()
        header.standards = try count()
        header.leaps = try count()
        header.times = try count()
        header.types = try count()
        header.names = try count()
        guard [0, header.types].contains(header.universals),
            [0, header.types].contains(header.standards)
        else { throw ZoneFileProblem("has counts that contradict one another") }
        return header
    }

    /// A number of 32 bits: what it counts takes at most 13 bytes each, so that nothing overflows.
    private mutating func count() throws(ZoneFileProblem) -> Int {
        try take(4).reduce(0) { $0 << 8 | Int($1) }
    }

    /// The rule for what comes after the last change; nil: there is none.
    mutating func rule() throws(ZoneFileProblem) -> ZoneRule? {
        let newline = UInt8(ascii: "\n")
        guard try take(1).first == newline else {
            throw ZoneFileProblem("has something else where its rule should be")
        }
        let rest = bytes[position...]
        guard let end = rest.firstIndex(of: newline) else {
            throw ZoneFileProblem("is cut off within its rule")
        }
        if rest.startIndex == end { return nil }
        guard let rule = ZoneRule(rest[..<end]) else {
            let text = String(decoding: rest[..<end].prefix(60), as: UTF8.self)
            throw ZoneFileProblem("has a rule that can't be read: '\(text)'")
        }
        return rule
    }
}
