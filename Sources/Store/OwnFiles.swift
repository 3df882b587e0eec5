internal import Foundation

/// The files of an open store, by the names under which they were opened.
///
/// SQLite keeps using a file that it has open, even if its name is removed or replaced. Everything written after that
/// is lost with the process.
struct OwnFiles: Sendable {
    private struct Identity: Sendable, Equatable {
        var device: UInt64
        var number: UInt64

        /// nil: there is no such file, or `errno` says why it can't be looked at.
        init?(of path: String) {
            var info = stat()
            guard stat(path, &info) == 0 else { return nil }
            self.init(info)
        }

        /// nil: `errno` says why the open file can't be looked at.
        init?(of descriptor: Int32) {
            var info = stat()
            guard fstat(descriptor, &info) == 0 else { return nil }
            self.init(info)
        }

        private init(_ info: stat) {
            (device, number) = (UInt64(info.st_dev), UInt64(info.st_ino))
        }

        /// Whether a path leads to no file, or to another one.
        ///
        /// False if it can't be looked at, as while a folder above it can't be entered.
        func isGone(from path: String) -> Bool {
            guard let found = Identity(of: path) else { return [ENOENT, ENOTDIR].contains(errno) }
            return found != self
        }
    }

    private let files: [(path: String, identity: Identity)]

    /// Notes an open database, its log and the lock that keeps other daemons away.
    init(of database: String) {
        let folder = database[..<(database.lastIndex(of: "/") ?? database.startIndex)]
        files = [database, "\(database)-wal", "\(folder)/atrium.lock"].compactMap { path in
            Identity(of: path).map { (path, $0) }
        }
    }

    /// The path of the first file that is no longer under its name; nil: all of them are.
    var missing: String? { files.first { $0.identity.isGone(from: $0.path) }?.path }

    /// Whether a file that was opened by the name of one of these is another file.
    func isReplaced(_ descriptor: Int32, at path: String) -> Bool {
        guard let own = files.first(where: { $0.path == path })?.identity else { return false }
        return Identity(of: descriptor) != own
    }
}
