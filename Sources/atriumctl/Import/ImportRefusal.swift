import Interfaces
import JSONCodec
import Varlink

/// What to do with a batch that the daemon refused.
enum ImportRefusal: Equatable {
    /// The entry at this index is bad; those behind it were not checked.
    case entry(Int)
    /// The entries at these indices are bad.
    case entries([Int])
    /// The error does not say which of several entries is bad: send the batch in halves.
    case halves
    /// Send the batch again after so many seconds.
    case later(Double)
    /// End the import: no entry can be imported.
    case everything

    /// Decides by the error, and by the entry that it names.
    init(_ error: VarlinkRemoteError, of batch: ImportBatch) {
        if error.as(VarlinkService.InvalidParameter.self) != nil
            || error.as(VarlinkLimitExceeded.self) != nil
        {
            self = Self.unnamed(batch)
        } else {
            self = InterfaceError(error).map { Self($0, of: batch) } ?? .everything
        }
    }

    private init(_ error: InterfaceError, of batch: ImportBatch) {
        switch error {
        case .fieldInvalid(let item, _, _, _), .itemInvalid(let item, _),
            .revisionMismatch(let item, _, _):
            self = Self.place(in: batch) { $0 == [item] }
        case .recordInvalid(let component, let key, _):
            self = Self.place(in: batch) { Array($0.prefix(2)) == [component, key] }
        case .fieldUnknown(let field, _):
            let places = batch.entries.indices.filter { batch.entries[$0].has(field) }
            self = places.isEmpty ? Self.unnamed(batch) : .entries(places)
        case .storeUnavailable(_, let retryAfter):
            self = retryAfter.map { .later($0) } ?? .everything
        case .componentUnavailable(_, _, let retryAfter): self = .later(retryAfter)
        case .limitExceeded(_, _, let retryAfter, _):
            self = retryAfter.map { .later($0) } ?? Self.unnamed(batch)
        case .refused, .parameterInvalid: self = Self.unnamed(batch)
        case .actorForbidden, .actorNotFound, .closed, .commentNotFound, .componentExists,
            .componentNotFound, .conflict, .containerNotFound, .cursorInvalid,
            .definitionInvalid, .filterNotFound, .itemNotFound, .itemsUnfit, .logLevelUnknown,
            .noSpace, .noSuchMetric, .pluginNotFound, .readOnly, .reloadFailed, .roleRequired,
            .scopeNotFound, .screenNotFound, .settingInvalid, .topicInvalid:
            self = .everything
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
