import Store

// Describes what a verification found, in sentences.

/// The advice for records that are damaged or missing.
private let restoring =
    "Nothing was repaired: restore a backup, or put these again; until then an export fails"

extension StoreCheck.Found {
    func damage(in container: String, _ component: String) -> [Damage] {
        var all: [Damage] = []
        if damaged.count > 0 {
            all.append(
                Damage(
                    container: container, component: component, kind: .checksum,
                    count: damaged.count, keys: damaged.keys,
                    found: damaged.count == 1
                        ? "1 record does not match its checksum"
                        : "\(damaged.count) records do not match their checksums",
                    advice: restoring))
        }
        if let difference {
            all.append(
                Damage(
                    container: container, component: component, kind: .missing,
                    count: max(abs(difference.expected - difference.found), 1), keys: [],
                    found: difference.sentence, advice: "Nothing was repaired: restore a backup"))
        }
        return all
    }
}

extension RecordDifference {
    var sentence: String {
        let missing = expected - found
        if missing == 1 { return "1 record is missing of \(expected)" }
        if missing > 1 { return "\(missing) records are missing of \(expected)" }
        if missing == 0 { return "the \(found) records are not those that were written" }
        return "there are \(found) records where \(expected) were written"
    }
}

extension StoreCheck {
    /// The parts of the store itself that were read.
    var parts: [VerifiedPart] {
        let log = VerifiedPart(
            container: "", component: "", kind: "log", records: entries.records, skipped: nil)
        let file = VerifiedPart(
            container: "", component: "", kind: "file", records: 0,
            skipped: lines == nil ? "SQLite could not look at it." : nil)
        return [log, file]
    }

    /// The damage in the store itself.
    var damage: [Damage] {
        func damage(_ kind: Damage.Kind, _ count: Int, _ keys: [String], _ found: String) -> Damage
        {
            Damage(
                container: "", component: "", kind: kind, count: count, keys: keys, found: found,
                advice: "Nothing was repaired: restore a backup")
        }
        var all: [Damage] = []
        let damaged = entries.damaged
        if damaged.count > 0 {
            let found =
                damaged.count == 1
                ? "1 entry of the log does not match its checksum"
                : "\(damaged.count) entries of the log do not match their checksums"
            all.append(damage(.log, damaged.count, damaged.keys, found))
        }
        if missingEntries > 0 {
            let found =
                missingEntries == 1
                ? "1 entry of the log is missing"
                : "\(missingEntries) entries of the log are missing"
            all.append(damage(.log, missingEntries, [], found))
        }
        all += problems.map { damage(.file, 1, [], $0) }
        if let lines, !lines.isEmpty {
            all.append(
                damage(
                    .file, lines.count, [], "the structure of the file is damaged: \(lines[0])"))
        }
        return all
    }
}

extension ComponentCheck.Outcome {
    func damage(
        of slot: Slot, in container: Container, _ found: StoreCheck.Found?
    ) -> [Damage] {
        var all = found?.damage(in: container.name, slot.name) ?? []
        // Damaged records are also unreadable: they were already reported.
        let illegible = unreadable.count - (found?.damaged.count ?? 0)
        if illegible > 0 {
            all.append(
                Damage(
                    container: container.name, component: slot.name, kind: .unreadable,
                    count: illegible, keys: unreadable.keys,
                    found: illegible == 1
                        ? "1 record can't be read" : "\(illegible) records can't be read",
                    advice: restoring))
        }
        let isStoreRight = all.isEmpty
        for (noun, found) in shown {
            all.append(
                Damage(
                    container: container.name, component: slot.name, kind: .shown,
                    count: found.count, keys: found.keys,
                    found: noun.sentence(found),
                    advice: isStoreRight
                        ? noun.advice : "It may follow from the damaged records: restore a backup"))
        }
        return all
    }
}

extension ComponentCheck.Noun {
    fileprivate func sentence(_ found: FoundKeys) -> String {
        let count = found.count
        let subject =
            switch self {
            case .item: count == 1 ? "1 item differs" : "\(count) items differ"
            case .tally: count == 1 ? "1 tally differs" : "\(count) tallies differ"
            case .comment: count == 1 ? "1 comment differs" : "\(count) comments differ"
            case .count: count == 1 ? "1 thread differs" : "\(count) threads differ"
            case .order: count == 1 ? "1 index differs" : "\(count) indexes differ"
            }
        return "\(subject) from what the store holds: \(found.example)"
    }

    fileprivate var advice: String {
        let restart = "Restart the daemon, which reads the store anew, and report this"
        guard self == .tally else { return restart }
        return "\(restart). If it stays, the plugin does not count all ballots: was its scale "
            + "another one when they were cast?"
    }
}
