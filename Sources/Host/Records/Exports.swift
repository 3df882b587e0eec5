import AtriumKit
import Index
import Store

/// Exports of containers' records, each read part by part.
///
/// Each holds a snapshot, which keeps the store's log from being shortened, so few may be open.
public final class Exports {
    private let domain: Domain
    let open: Leases<RecordExport>

    init(in domain: Domain) {
        self.domain = domain
        open = Leases(in: domain)
    }

    /// Begins an export of all records of a container: items, then ballots and comments, in the order of components.
    ///
    /// The records are those of one snapshot, which is taken during this call. Two differences are possible: a record
    /// that is erased before its part is read is left out, and a comment that is changed before then is exported as
    /// changed. Records of detached components and ballots of erased persons are left out.
    ///
    /// - Parameters:
    ///   - container: the container.
    ///   - skipsDamaged: whether to skip records that can't be read and list them in the part; by default the first
    ///     such record ends the export, and so does damage for which records may not be found.
    ///   - reply: the export, for ``pull(_:_:)`` and in the end ``close(_:)``; fails with `limitExceeded` or
    ///     `storeUnavailable`.
    public func begin(
        of container: Container, skipsDamaged: Bool = false, _ reply: @escaping Reply<ExportID>
    ) {
        let limit = domain.limits.exports
        guard open.count < limit else {
            return reply(.failure(.limitExceeded(limit: "exports", value: limit, retryAfter: 10)))
        }
        let export = RecordExport(
            of: container.name, container.recordSources, skipsDamaged: skipsDamaged)
        let id = ExportID(number: open.add(export))
        domain.read { store in
            try store.snapshot()
        } then: { [open] result in
            switch result {
            case .success(let snapshot):
                export.snapshot = snapshot
                reply(.success(id))
            case .failure(let error):
                open.end(id.number)
                reply(.failure(.unreadable(error)))
            }
        }
    }

    /// Reads the next part of an export: about 500 records or 512 KiB.
    ///
    /// - Parameters:
    ///   - id: the export; wait for each part before you ask for the next.
    ///   - reply: the part; fails with `storeUnavailable`. An export whose last part was read more than a minute or
    ///     two ago is closed, and then this fails with `storeUnavailable` too.
    public func pull(_ id: ExportID, _ reply: @escaping Reply<ExportPart>) {
        guard let export = open.renew(id.number), let snapshot = export.snapshot else {
            return reply(
                .failure(
                    .storeUnavailable(
                        reason: "The export was ended because no part was requested for a "
                            + "minute, or a person was erased meanwhile; begin again.",
                        retryAfter: 0)))
        }
        let (container, sources, place) = (export.container, export.sources, export.place)
        let skipsDamaged = export.skipsDamaged
        domain.read { store in
            var slice = try ExportSlice(
                of: container, sources, from: place, in: snapshot, skipsDamaged: skipsDamaged)
            try slice.refresh(
                of: container, since: snapshot, in: store, skipsDamaged: skipsDamaged)
            return slice
        } then: { [open, actors = domain.actors] result in
            open.rest(id.number)
            switch result {
            case .failure(let error):
                open.end(id.number)
                reply(.failure(.unreadable(error)))
            case .success(var slice):
                if let reason = slice.removeNameless(actors), !skipsDamaged {
                    open.end(id.number)
                    return reply(.failure(.unreadable(snapshot.damaged(reason))))
                }
                if let next = slice.next { export.place = next } else { open.end(id.number) }
                reply(
                    .success(
                        ExportPart(
                            records: slice.records.compactMap { RecordView($0, actors) },
                            sequence: snapshot.sequence, isLast: slice.next == nil,
                            lost: slice.lost)))
            }
        }
    }

    /// Ends an export; does nothing when it has ended.
    public func close(_ id: ExportID) { open.end(id.number) }
}

extension RecordView {
    /// A stored record with its actor's name; nil if the actor is an erased person.
    fileprivate init?(_ record: ExportSlice.Record, _ actors: ActorTable) {
        let name = record.actor.flatMap { actors.name(of: $0) }
        // A comment with a number that has no name is an erased person's, and about to be deleted.
        if name == nil, record.source.kind == .votes || record.actor != nil { return nil }
        var value = record.value
        // The reason that a moderator gave is erased together with the moderator.
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
