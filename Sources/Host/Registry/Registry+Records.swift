import AtriumKit
import Index
import NIOCore
import Store

// Records taken out whole and put back.
extension Registry {
    /// Begins to export every record of a container: items first, then ballots and comments, each
    /// by component in order, all as they are at one moment, which is not before this call.
    ///
    /// Only what is gone when its part is read is left out, and a comment that was changed is as it is then.
    ///
    /// Left out are the records of detached components, and ballots of erased persons.
    ///
    /// - Parameters:
    ///   - container: the container.
    ///   - skipsDamaged: goes on without what can't be read, and tells what that is; else (the default) that ends
    ///     the export.
    ///   - reply: what to call ``pull(_:_:)`` with, and ``close(_:)`` in the end; fails with
    ///     `containerNotFound`, `limitExceeded` or `storeUnavailable`.
    public func export(
        _ container: String, skipsDamaged: Bool = false, _ reply: @escaping Reply<ExportID>
    ) {
        with(container, reply) { [self] container in
            let limit = domain.limits.exports
            guard state.exports.count < limit else {
                return reply(
                    .failure(.limitExceeded(limit: "exports", value: limit, retryAfter: 10)))
            }
            let export = RecordExport(
                of: container.name, container.recordSources, skipsDamaged: skipsDamaged)
            let id = state.exports.add(export)
            watchExports()
            domain.read { store in
                try store.snapshot()
            } then: { [state] result in
                switch result {
                case .success(let snapshot):
                    export.snapshot = snapshot
                    reply(.success(id))
                case .failure(let error):
                    state.exports.remove(id)
                    reply(.failure(.unreadable(error)))
                }
            }
        }
    }

    /// The next part of an export: about 500 records or 512 KiB.
    ///
    /// - Parameters:
    ///   - id: the export; ask for one part at a time.
    ///   - reply: the part; fails with `storeUnavailable`, also when a minute or two went by since
    ///     the last part: the export is closed then.
    public func pull(_ id: ExportID, _ reply: @escaping Reply<ExportPart>) {
        guard let export = state.exports[id], let snapshot = export.snapshot else {
            return reply(
                .failure(
                    .storeUnavailable(
                        reason: "The export was ended because its reader made it wait for more "
                            + "than a minute, or somebody was erased meanwhile; begin again.",
                        retryAfter: 0)))
        }
        export.isFollowed = true
        let (container, sources, place) = (export.container, export.sources, export.place)
        let skipsDamaged = export.skipsDamaged
        domain.read { store in
            var slice = try ExportSlice(
                of: container, sources, from: place, in: snapshot, skipsDamaged: skipsDamaged)
            try slice.takeBack(
                of: container, since: snapshot, in: store, skipsDamaged: skipsDamaged)
            return slice
        } then: { [state] result in
            switch result {
            case .failure(let error):
                state.exports.remove(id)
                reply(.failure(.unreadable(error)))
            case .success(var slice):
                if let reason = slice.takeOutNameless(state.domain.actors), !skipsDamaged {
                    state.exports.remove(id)
                    return reply(.failure(.unreadable(snapshot.damaged(reason))))
                }
                if let next = slice.next { export.place = next } else { state.exports.remove(id) }
                reply(
                    .success(
                        ExportPart(
                            records: slice.records.compactMap {
                                RecordView($0, state.domain.actors)
                            },
                            sequence: snapshot.sequence, isLast: slice.next == nil,
                            lost: slice.lost)))
            }
        }
    }

    /// Ends an export; one that has ended is passed over.
    public func close(_ id: ExportID) { state.exports.remove(id) }

    /// Ends exports whose readers are gone without a word, as long as there are any.
    private func watchExports() {
        guard !state.exports.isWatched, !state.exports.isEmpty else { return }
        state.exports.isWatched = true
        domain.after(.seconds(60)) { [self] in
            state.exports.endForsaken()
            state.exports.isWatched = false
            watchExports()
        }
    }
}

extension RecordView {
    /// A stored record with its actor's name; nil for an erased person's.
    fileprivate init?(_ record: ExportSlice.Record, _ actors: ActorTable) {
        let name = record.actor.flatMap { actors.name(of: $0) }
        // Of comments with a number that is nobody's: it is about to go.
        if name == nil, record.source.kind == .votes || record.actor != nil { return nil }
        var value = record.value
        // A reason by somebody who has no name any more is about to go.
        if let moderator = record.moderator, var object = try? Value(jsonBytes: value).object {
            let name = actors.name(of: moderator).map(Value.text)
            object["moderator"] = name
            if name == nil { object["reason"] = nil }
            value = Value.object(object).jsonBytes
        }
        self.init(
            component: record.source.component, kind: record.source.kind.rawValue,
            key: record.key, actor: name, value: value)
    }
}
