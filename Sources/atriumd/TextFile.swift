import Glibc
import PluginLoader
import SystemPackage

/// A file of the administrator's, read as the daemon can.
enum TextFile {
    /// Reads a file.
    ///
    /// - Parameter path: its path.
    /// - Returns: its text.
    /// - Throws: ``FileProblem``.
    static func read(_ path: String) throws(FileProblem) -> String {
        var bytes: [UInt8] = []
        do {
            // A pipe that nobody writes to would be waited for.
            let file = try FileDescriptor.open(FilePath(path), .readOnly, options: .nonBlocking)
            defer { try? file.close() }
            var part = [UInt8](repeating: 0, count: 65_536)
            while case let count = try part.withUnsafeMutableBytes({ try file.read(into: $0) }),
                count > 0
            {
                bytes += part[..<count]
            }
        } catch {
            throw FileProblem(path, errno: (error as? Errno)?.rawValue ?? EIO)
        }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw FileProblem(path, "it is not UTF-8")
        }
        return text
    }
}

/// What is wrong with a file or a folder as a whole: which, and what the system says.
struct FileProblem: Error, CustomStringConvertible {
    let path: String
    /// The system's number; 0 where it has nothing to say.
    let errno: Int32
    private let reason: String

    /// The system refuses it.
    init(_ path: String, errno: Int32) {
        self.path = path
        self.errno = errno
        reason = "can't be read: \(String(cString: strerror(errno)))" + Self.reader(errno)
    }

    /// Who may not read it: asked for only where that matters, since the directory of users may hang.
    private static func reader(_ errno: Int32) -> String {
        guard [EACCES, EPERM].contains(errno) else { return "" }
        let user = DirectoryQuestion.answer(within: .milliseconds(500)) {
            getpwuid(geteuid()).map { "'\(String(cString: $0.pointee.pw_name))'" }
        }
        return " (read as the user \((user ?? nil) ?? "\(geteuid())"))"
    }

    /// What is in it can't be used.
    init(_ path: String, _ reason: String) {
        self.path = path
        self.errno = 0
        self.reason = reason
    }

    /// Whether there is nothing at the path.
    var isMissing: Bool { errno == ENOENT }

    var description: String { "\(path): \(reason)" }
}
