internal import Dispatch
import NIOCore
import Store

/// Backups of the whole store, made while it is in use.
///
/// Each has a file as big as the store, so at most two may be open.
public final class Backups {
    private static let most = 2

    private let domain: Domain
    let open: Leases<OpenBackup>

    init(in domain: Domain) {
        self.domain = domain
        open = Leases(in: domain) { $0.making.cancel() }
    }

    /// Begins a backup, which ``pull(_:as:_:)`` then makes and reads, and ``close(_:)`` ends; throws `limitExceeded`
    /// or `storeUnavailable`.
    public func begin() throws(HostError) -> BackupID {
        guard !domain.isStopping else { throw domain.stopping }
        guard open.count < Self.most else {
            throw .limitExceeded(limit: "backups", value: Self.most, retryAfter: 10)
        }
        return BackupID(number: open.add(OpenBackup()))
    }

    /// Reads the next part of a backup; the first call also copies the store.
    ///
    /// - Parameters:
    ///   - id: the backup; wait for each part before you ask for the next.
    ///   - make: converts a part to what the caller wants, on the backup's thread.
    ///   - reply: what `make` returned; fails with `noSpace` or `storeUnavailable`. A backup whose last part was read
    ///     more than a minute or two ago is closed, and then this fails with `storeUnavailable`.
    public func pull<Made: Sendable>(
        _ id: BackupID, as make: @escaping @Sendable (BackupPart) -> Made,
        _ reply: @escaping Reply<Made>
    ) {
        guard let backup = open.renew(id.number) else { return reply(.failure(.forsakenBackup)) }
        let (store, making, copy, offset) = (
            domain.store, backup.making, backup.copy, backup.offset
        )
        let loop = domain.loop
        let back = NIOLoopBound(
            { [open] (result: Result<(Backup, BackupPart, Made), BackupError>) in
                open.rest(id.number)
                switch result {
                case .success(let (copy, part, made)):
                    backup.copy = copy
                    backup.offset = offset + part.bytes.count
                    if part.isLast { open.end(id.number) }
                    reply(.success(made))
                case .failure(let error):
                    open.end(id.number)
                    reply(.failure(HostError(error)))
                }
            }, eventLoop: loop)
        backup.queue.async {
            let result = Result { () throws(BackupError) in
                let copy = if let copy { copy } else { try making.make(of: store) }
                let part = try BackupPart(of: copy, from: offset)
                return (copy, part, make(part))
            }
            loop.execute { back.value(result) }
        }
    }

    /// Ends a backup, even while the store is being copied; does nothing when it has ended.
    public func close(_ id: BackupID) { open.end(id.number) }
}

/// A backup that a client reads part by part.
///
/// Used on the event loop; the work runs on the backup's own queue.
final class OpenBackup {
    /// Runs the copy of the store and the reads of its parts, one after the other; no other work waits for it.
    let queue = DispatchQueue(label: "atrium.backup", qos: .utility)
    let making = BackupMaking()
    /// The copy; nil until it is complete.
    fileprivate(set) var copy: Backup?
    /// The offset of the next part.
    fileprivate(set) var offset = 0
}

extension BackupPart {
    /// The maximum size of a part, in bytes.
    private static let most = 256 << 10

    fileprivate init(of copy: Backup, from offset: Int) throws(BackupError) {
        do throws(StoreError) {
            let bytes = try copy.read(at: offset, atMost: Self.most)
            self.init(
                bytes: bytes, total: copy.bytes, sequence: copy.sequence, store: copy.identity,
                isLast: bytes.isEmpty)
        } catch {
            throw .store(error)
        }
    }
}

extension HostError {
    fileprivate static let forsakenBackup = HostError.storeUnavailable(
        reason:
            "The backup was ended because no part was requested for a minute, or a person was erased meanwhile; "
            + "begin again.",
        retryAfter: 0)

    fileprivate init(_ error: BackupError) {
        self =
            switch error {
            case .noRoom(let folder, let needed, let free):
                .noSpace(path: folder, needed: needed, free: free)
            case .cancelled: .forsakenBackup
            case .store(.corrupt(let file, let reason)):
                .storeUnavailable(
                    reason:
                        "No backup is made of a damaged store: in \(file) \(reason). Keep the last backup and restore "
                        + "it, or export the containers.", retryAfter: nil)
            case .store(let error): .unreadable(error)
            }
    }
}
