internal import Dispatch
import NIOCore
import Store

// Backups of the whole store, made while it is in use.
extension Registry {
    /// Begins a backup, which ``pull(_:as:_:)`` then makes and reads.
    ///
    /// - Returns: the backup, for ``pull(_:as:_:)`` and in the end ``close(_:)``.
    /// - Throws: `limitExceeded` or `storeUnavailable`.
    public func backUp() throws(HostError) -> BackupID {
        guard !domain.isStopping else { throw domain.stopping }
        guard state.backups.count < BackupTable.most else {
            throw .limitExceeded(limit: "backups", value: BackupTable.most, retryAfter: 10)
        }
        let id = state.backups.add(OpenBackup())
        watchBackups()
        return id
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
        guard let open = state.backups[id] else { return reply(.failure(.forsakenBackup)) }
        (open.isFollowed, open.isBusy) = (true, true)
        let (store, making, copy, offset) = (domain.store, open.making, open.copy, open.offset)
        let loop = domain.loop
        let back = NIOLoopBound(
            { [state] (result: Result<(Backup, BackupPart, Made), BackupError>) in
                open.isBusy = false
                switch result {
                case .success(let (copy, part, made)):
                    open.copy = copy
                    open.offset = offset + part.bytes.count
                    if part.isLast { state.backups.remove(id) }
                    reply(.success(made))
                case .failure(let error):
                    state.backups.remove(id)
                    reply(.failure(HostError(error)))
                }
            }, eventLoop: loop)
        open.queue.async {
            let result = Result { () throws(BackupError) in
                let copy = if let copy { copy } else { try making.make(of: store) }
                let part = try BackupPart(of: copy, from: offset)
                return (copy, part, make(part))
            }
            loop.execute { back.value(result) }
        }
    }

    /// Ends a backup, even while the store is being copied; does nothing when it has ended.
    public func close(_ id: BackupID) { state.backups.remove(id) }

    /// Ends backups whose readers disappeared without closing them.
    ///
    /// Checks every minute while there are any.
    private func watchBackups() {
        guard !state.backups.isWatched, state.backups.count > 0 else { return }
        state.backups.isWatched = true
        domain.after(.seconds(60)) { [self] in
            state.backups.endForsaken()
            state.backups.isWatched = false
            watchBackups()
        }
    }
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
            case .cancelled: .storeUnavailable(reason: "The backup was ended.", retryAfter: 0)
            case .store(.corrupt(let file, let reason)):
                .storeUnavailable(
                    reason:
                        "No backup is made of a damaged store: in \(file) \(reason). Keep the last backup and restore "
                        + "it, or export the containers.", retryAfter: nil)
            case .store(let error): .unreadable(error)
            }
    }
}
