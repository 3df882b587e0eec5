import Interfaces
import JSONCodec
import Varlink

/// What becomes of a batch that the daemon refused.
enum ImportRefusal: Equatable {
    /// The entry at this place is bad; the others were not looked at any further.
    case entry(Int)
    /// Every entry that has this field is bad.
    case entries([Int])
    /// One of several is bad, and it was not said which: try them in halves.
    case halves
    /// The same may succeed after so many seconds.
    case later(Double)
    /// Nothing of this file can go in.
    case everything

    /// Judges an error by what it names.
    init(_ error: VarlinkRemoteError, of batch: ImportBatch) {
        let details = error.parameters.value
        switch RemoteProblem.shortName(error.name) {
        case "FieldInvalid", "ItemInvalid", "RevisionMismatch":
            self = Self.place(in: batch) { $0 == [details["item"]?.string ?? ""] }
        case "RecordInvalid":
            let wanted = [details["component"]?.string ?? "", details["key"]?.string ?? ""]
            self = Self.place(in: batch) { Array($0.prefix(2)) == wanted }
        case "FieldUnknown":
            let field = details["field"]?.string ?? ""
            let places = batch.entries.indices.filter { batch.entries[$0].has(field) }
            self = places.isEmpty ? Self.unnamed(batch) : .entries(places)
        case "StoreUnavailable", "ComponentUnavailable":
            self = details["retryAfter"]?.double.map { .later($0) } ?? .everything
        case "LimitExceeded":
            let wait = details["retryAfter"]?.double
            self = wait.map { .later($0) } ?? Self.unnamed(batch)
        case "Refused", "InvalidParameter", "ParameterInvalid": self = Self.unnamed(batch)
        default: self = .everything
        }
    }

    private static func place(
        in batch: ImportBatch, _ isMeant: ([String]) -> Bool
    ) -> ImportRefusal {
        batch.entries.firstIndex { isMeant($0.content.identity) }.map { .entry($0) }
            ?? unnamed(batch)
    }

    private static func unnamed(_ batch: ImportBatch) -> ImportRefusal {
        batch.entries.count > 1 ? .halves : .entry(0)
    }
}

extension ImportBatch.Entry {
    /// Whether it is an item with this field.
    fileprivate func has(_ field: String) -> Bool {
        guard case .item(let item) = content else { return false }
        return item.fields.value[field] != nil
    }
}
