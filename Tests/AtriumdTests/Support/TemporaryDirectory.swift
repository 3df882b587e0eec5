import Foundation

/// A directory of its own, gone with the last reference to it.
final class TemporaryDirectory: Sendable {
    let path: String

    /// Makes it, open to every user: some of them are the voters.
    init() throws {
        // Short: a socket's path has at most 107 bytes.
        path = "/var/tmp/atrium-\(UUID().uuidString.prefix(13))"
        try FileManager.default.createDirectory(
            atPath: path, withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o755])
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    /// Writes a file, and what folders lead to it.
    ///
    /// - Returns: its path.
    @discardableResult
    func write(_ name: String, _ text: String) throws -> String {
        let file = "\(path)/\(name)"
        try FileManager.default.createDirectory(
            at: URL(filePath: file).deletingLastPathComponent(), withIntermediateDirectories: true)
        try text.write(toFile: file, atomically: true, encoding: .utf8)
        return file
    }
}
