import AtriumKit
import Index
import JSONCodec
import Store

/// A container's records as they were at one moment, read part by part.
///
/// Used on the event loop; the parts are read on another thread.
final class RecordExport {
    /// A component to export, with its kind.
    struct Source: Sendable {
        var component: String
        var kind: Kind
    }

    /// The position of the next part.
    struct Place: Sendable {
        var source = 0
        var key: String?
        /// The count of the component's rows so far.
        var tally = RecordTally()

        /// Whether nothing was read yet.
        var isStart: Bool { source == 0 && key == nil }
    }

    let container: String
    /// The components to export, in order.
    let sources: [Source]
    /// Whether damaged records are skipped; otherwise they end the export.
    let skipsDamaged: Bool
    var snapshot: Snapshot?
    var place = Place()

    init(of container: String, _ sources: [Source], skipsDamaged: Bool) {
        self.container = container
        self.sources = sources
        self.skipsDamaged = skipsDamaged
    }
}

/// Records as the store has them, with actors as numbers.
struct ExportSlice: Sendable {
    /// One of them.
    struct Record: Sendable {
        var source: RecordExport.Source
        /// Its key in the store.
        var stored: String
        var key: String
        var actor: ActorID?
        /// The actor who gave the reason in a comment's value.
        var moderator: ActorID?
        var value: [UInt8]
    }

    /// The most records of a part.
    static let records = 500
    /// The bytes after which a part ends.
    static let bytes = 512 << 10

    var records: [Record] = []
    /// The records that are missing from the part, one sentence each, if damaged records are skipped.
    var lost: [String] = []
    /// The position of the next part; nil: this is the last.
    var next: RecordExport.Place?

    /// Reads a part; call it away from the event loop.
    ///
    /// Records that are not of their component's kind are left out: they are private to the component.
    ///
    /// - Throws: `StoreError` if the file can't be read; if damaged records are not skipped, also if a record is damaged
    ///   or missing, or records may not be found because the tables that say where they belong are damaged.
    init(
        of container: String, _ sources: [RecordExport.Source], from place: RecordExport.Place,
        in snapshot: Snapshot, skipsDamaged: Bool
    ) throws(StoreError) {
        if place.isStart {
            // What these rows don't name is not read, and would be left out in silence.
            lost = try snapshot.problemsOfPlaces()
            if let first = lost.first, !skipsDamaged { throw snapshot.damaged(first) }
        }
        var size = 0
        var (after, tally) = (place.key, place.tally)
        for index in sources.indices.dropFirst(place.source) {
            let source = sources[index]
            var last: String?
            var damage: String?
            try snapshot.forEachRecord(
                container: container, component: source.component, after: after, tally: &tally
            ) { key, value in
                if let value, let decoded = try? Value(jsonBytes: value) {
                    if let record = Record(source, key, decoded, value) {
                        records.append(record)
                        size += value.count + key.utf8.count + source.component.utf8.count
                    }
                } else {
                    let reason = Self.sentence(key, of: source.component)
                    guard skipsDamaged else {
                        damage = reason
                        return false
                    }
                    lost.append(reason)
                }
                guard records.count + lost.count >= Self.records || size >= Self.bytes else {
                    return true
                }
                last = key
                return false
            }
            if let damage { throw snapshot.damaged(damage) }
            if let last {
                next = RecordExport.Place(source: index, key: last, tally: tally)
                return
            }
            if let difference = tally.difference {
                let reason = "of \(source.component), \(difference.sentence)"
                guard skipsDamaged else { throw snapshot.damaged(reason) }
                lost.append(reason)
            }
            (after, tally) = (nil, RecordTally())
        }
    }

    private static func sentence(_ key: String, of component: String) -> String {
        // A ballot's key contains a line feed.
        "the record '\(key.replacing("\n", with: "/"))' of \(component) can't be read"
    }

    /// Removes the records whose actors' names are lost through damage, and returns a sentence about the first.
    mutating func removeNameless(_ actors: ActorTable) -> String? {
        func isLost(_ record: Record) -> Bool {
            guard let actor = record.actor, actors.name(of: actor) == nil else { return false }
            return !actors.isErased(actor)
        }
        let sentences = records.filter(isLost).map { record in
            "the owner of record '\(record.key)' of \(record.source.component) is unknown: the name of person "
                + "\(record.actor?.number ?? 0) can't be read"
        }
        guard let first = sentences.first else { return nil }
        records.removeAll(where: isLost)
        lost += sentences
        return first
    }
}

extension ExportSlice {
    /// Removes what was deleted since the export began, and updates comments that changed since then.
    ///
    /// So a part never holds what was deleted before it was read.
    ///
    /// - Parameters:
    ///   - container: the container of the records.
    ///   - snapshot: the snapshot that the export reads.
    ///   - store: the store in its present state.
    ///   - skipsDamaged: whether records that were damaged since are left out and reported; otherwise the first is
    ///     thrown.
    /// - Throws: `StoreError`.
    mutating func refresh(
        of container: String, since snapshot: Snapshot, in store: Store, skipsDamaged: Bool
    ) throws(StoreError) {
        guard store.lastSequence > snapshot.sequence else { return }
        var damaged: [RecordKey] = []
        let now = try store.records(
            records.map {
                RecordKey(container: container, component: $0.source.component, key: $0.stored)
            }, damaged: &damaged)
        let sentences = damaged.map { Self.sentence($0.key, of: $0.component) }
        if let first = sentences.first, !skipsDamaged { throw snapshot.damaged(first) }
        lost += sentences
        records = zip(records, now).compactMap { record, now in
            guard let now else { return nil }
            guard record.source.kind == .comments, now.sequence > snapshot.sequence else {
                return record
            }
            guard let value = try? Value(jsonBytes: now.value) else { return nil }
            return Record(record.source, record.stored, value, now.value)
        }
    }
}

extension ExportSlice.Record {
    /// Decodes a stored record as its kind; nil if it is not of that kind.
    fileprivate init?(
        _ source: RecordExport.Source, _ key: String, _ value: Value, _ bytes: [UInt8]
    ) {
        switch source.kind {
        case .contents:
            guard Item(key: key, value: value) != nil else { return nil }
            self.init(source: source, stored: key, key: key, value: bytes)
        case .votes:
            guard let ballot = Ballot(key: key, value: value) else { return nil }
            self.init(
                source: source, stored: key, key: ballot.subject.item ?? "", actor: ballot.actor,
                value: bytes)
        case .comments:
            guard let comment = Comment(key: key, value: value), var object = value.object else {
                return nil
            }
            object["author"] = nil
            object["moderator"] = nil
            // Records of earlier versions kept the digest of a text that was deleted.
            if comment.text == nil { object["fingerprint"] = .text("") }
            self.init(
                source: source, stored: key, key: key, actor: comment.author,
                moderator: comment.moderator, value: object.jsonBytes)
        case .filters:
            return nil
        @unknown default:
            return nil
        }
    }
}
