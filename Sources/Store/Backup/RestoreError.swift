/// The reason why a backup was not restored, with the file and what to do.
///
/// Nothing was changed.
public enum RestoreError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The backup can't be read.
    case unreadable(file: String, reason: String)
    /// The file is not a store of Atrium's.
    case foreign(file: String, reason: String)
    /// A part of it is missing.
    case truncated(file: String, bytes: Int, expected: Int)
    /// The file is that of a running store, copied without its log.
    case withLog(file: String)
    /// Its contents are damaged.
    case damaged(file: String, reason: String)
    /// A newer version wrote it; the unknown migrations are named.
    case newer(file: String, migrations: [String])
    /// The state directory already has a store.
    case storeThere(file: String)
    /// The folder's file system has fewer free bytes than the store needs.
    case noRoom(folder: String, needed: Int, free: Int)
    /// The state directory can't be used.
    case store(StoreError)

    /// A sentence for people, with what to do about it.
    public var description: String {
        switch self {
        case .unreadable(let file, let reason): "\(file) can't be read: \(reason)"
        case .foreign(let file, let reason): "\(file) is no backup of a store: \(reason)"
        case .truncated(let file, let bytes, let expected):
            "\(file) is not whole: it has \(bytes) bytes of \(expected); copy it again, or take another backup"
        case .withLog(let file):
            "\(file)-wal lies beside \(file): it is the file of a store that was not stopped, and what is in its "
                + "log would be missing; take a backup that 'atriumctl backup' wrote"
        case .damaged(let file, let reason): "\(file) is damaged (\(reason)): take another backup"
        case .newer(let file, let migrations):
            "\(file) was written by a newer Atrium (\(migrations.joined(separator: ", "))): "
                + "restore it with that version"
        case .storeThere(let file):
            "there is a store already, \(file): --replace keeps it under another name and "
                + "restores in its place"
        case .noRoom(let folder, let needed, let free):
            "no room in \(folder): the store needs \(needed) bytes, \(free) are free"
        case .store(let error): "\(error)"
        }
    }
}
