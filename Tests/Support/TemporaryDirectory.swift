public import Foundation
import Synchronization

/// A directory of its own, gone with the last reference to it, or when the tests end.
public final class TemporaryDirectory: Sendable {
    /// Where it is, without a slash at the end.
    public let path: String

    /// What a global still refers to at the end, or an object that was never given back.
    private static let present = Mutex<Set<String>>([])

    private static let sweep: Void = {
        _ = atexit {
            for path in TemporaryDirectory.present.withLock({ $0 }) {
                try? FileManager.default.removeItem(atPath: path)
            }
        }
    }()

    /// Makes it, open to every user: some of them are the voters.
    ///
    /// - Parameter inMemory: whether what is written there need not reach a disk, where that can be had.
    /// - Throws: what kept it from being made.
    public init(inMemory: Bool = false) throws {
        Self.sweep
        let memory = "/dev/shm"
        let isThere = inMemory && FileManager.default.isWritableFile(atPath: memory)
        // Short: a socket's path has at most 107 bytes.
        let path = "\(isThere ? memory : "/var/tmp")/atrium-\(UUID().uuidString.prefix(13))"
        self.path = path
        try FileManager.default.createDirectory(
            atPath: path, withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o755])
        Self.present.withLock { _ = $0.insert(path) }
    }

    deinit {
        try? FileManager.default.removeItem(atPath: path)
        Self.present.withLock { [path] in _ = $0.remove(path) }
    }

    /// Where it is, as Foundation takes it.
    public var url: URL { URL(filePath: path, directoryHint: .isDirectory) }

    /// Writes a file, and what folders lead to it.
    ///
    /// - Returns: its path.
    @discardableResult
    public func write(_ name: String, _ text: String) throws -> String {
        try write(name, Data(text.utf8))
    }

    /// Writes a file, and what folders lead to it.
    ///
    /// - Returns: its path.
    @discardableResult
    public func write(_ name: String, _ content: Data) throws -> String {
        let file = "\(path)/\(name)"
        try FileManager.default.createDirectory(
            at: URL(filePath: file).deletingLastPathComponent(), withIntermediateDirectories: true)
        try content.write(to: URL(filePath: file))
        return file
    }
}
