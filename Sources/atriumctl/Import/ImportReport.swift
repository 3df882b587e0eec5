import JSONCodec

/// The counts of an import, and its bad lines.
struct ImportReport: Equatable {
    /// A line that was not imported, and why.
    struct BadLine: Equatable {
        var line: Int
        var reason: String
    }

    /// An item that stands in the file again.
    struct Duplicate: Equatable {
        var id: String
        var line: Int
        /// The line before that it stands in.
        var before: Int
        /// Whether this line was refused, so that it does not count.
        var isRefused = false
    }

    /// How many bad lines are named; the others are counted.
    static let named = 10

    private(set) var inserted = 0
    private(set) var updated = 0
    private(set) var restored = 0
    private(set) var unchanged = 0
    private(set) var bad = 0
    /// The first bad lines.
    private(set) var badLines: [BadLine] = []
    /// How often an id stood in the file again.
    private(set) var repeated = 0
    /// The first of these.
    private(set) var duplicates: [Duplicate] = []

    mutating func add(inserted: Int, updated: Int, unchanged: Int) {
        self.inserted += inserted
        self.updated += updated
        self.unchanged += unchanged
    }

    mutating func add(restored: Int, unchanged: Int) {
        self.restored += restored
        self.unchanged += unchanged
    }

    mutating func add(_ line: BadLine) {
        bad += 1
        // Lines that are no JSON are added as they are read, before the replies to earlier batches.
        let place = badLines.firstIndex { $0.line > line.line } ?? badLines.endIndex
        badLines.insert(line, at: place)
        if badLines.count > Self.named { badLines.removeLast() }
        for index in duplicates.indices where duplicates[index].line == line.line {
            duplicates[index].isRefused = true
        }
    }

    mutating func add(_ duplicate: Duplicate) {
        repeated += 1
        if duplicates.count < Self.named { duplicates.append(duplicate) }
    }

    /// How many entries were imported, or were there already.
    var done: Int { inserted + updated + restored + unchanged }

    /// The bad lines and the ids that stand twice, for standard error.
    var complaints: [String] {
        var result = badLines.map { "line \($0.line): \($0.reason)" }
        if bad > badLines.count {
            result.append("and \(Wording.count(bad - badLines.count, "more bad line"))")
        }
        result += duplicates.map {
            "line \($0.line): the id '\(Wording.cut($0.id))' stands in line \($0.before) already; "
                + ($0.isRefused ? "this line was refused" : "the later one counts")
        }
        if repeated > duplicates.count {
            result.append(
                "and \(Wording.count(repeated - duplicates.count, "more id")) that stood before")
        }
        return result.map(PrintableText.line)
    }

    /// The sentence at the end.
    func summary(seconds: Double) -> String {
        var parts = ["\(Wording.count(inserted)) inserted", "\(Wording.count(updated)) updated"]
        if restored > 0 { parts.append("\(Wording.count(restored)) restored") }
        parts += ["\(Wording.count(unchanged)) unchanged", "\(Wording.count(bad)) bad"]
        let rate = Int(Double(done) / max(seconds, 0.001))
        return parts.joined(separator: ", ")
            + " in \(Wording.rounded(max(seconds, 0.01), decimals: seconds < 1 ? 2 : 1)) s (\(Wording.count(rate)) items/s)"
    }

    /// The counts as JSON.
    func json(seconds: Double) -> JSONValue {
        .object([
            .init("inserted", .int(Int64(inserted))), .init("updated", .int(Int64(updated))),
            .init("restored", .int(Int64(restored))), .init("unchanged", .int(Int64(unchanged))),
            .init("bad", .int(Int64(bad))),
            .init(
                "badLines",
                .array(
                    badLines.map {
                        .object([
                            .init("line", .int(Int64($0.line))),
                            .init("reason", .string($0.reason)),
                        ])
                    })), .init("repeated", .int(Int64(repeated))),
            .init("seconds", .double(seconds)),
        ])
    }
}
