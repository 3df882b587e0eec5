internal import Foundation

/// Another name of a database file, under which GRDB finds no log.
///
/// Beside the name that it is given, GRDB looks for a log, which opening a store makes if there was none, and asks
/// Foundation for its size. Foundation then also looks up the names of the log's owner and group, which waits as long
/// as the system's directory of users (NSS) does not answer. SQLite resolves the name, so that it uses the file and its
/// log all the same.
///
/// The name is that of an open descriptor, and is valid for as long as this object exists.
final class FileAlias: Sendable {
    let path: String
    private let descriptor: Int32
    /// The Swift module of the C library does not have this flag.
    private static let pathOnly: Int32 = 0o10000000  // O_PATH

    /// Makes a name for an existing file; nil if the file can't be opened, or if `/proc` is not mounted.
    init?(of file: String) {
        // With O_PATH, because closing any other descriptor of the file would release SQLite's locks on it.
        descriptor = open(file, Self.pathOnly | O_CLOEXEC)
        path = "/proc/self/fd/\(descriptor)"
        guard descriptor >= 0, access(path, F_OK) == 0 else { return nil }
    }

    deinit { if descriptor >= 0 { close(descriptor) } }
}
