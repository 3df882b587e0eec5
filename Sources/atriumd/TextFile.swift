import AtriumFormats
import Glibc
import PluginLoader
import SystemPackage

/// Reads the administrator's files, with the daemon's permissions.
enum TextFile {
    static func read(_ path: String) throws(FileProblem) -> String {
        var bytes: [UInt8] = []
        do {
            // Non-blocking, because opening a pipe without a writer would wait for ever.
            let file = try FileDescriptor.open(FilePath(path), .readOnly, options: .nonBlocking)
            defer { try? file.close() }
            guard isFile(file.rawValue) else {
                throw FileProblem(path, "it is no regular file: put one in its place")
            }
            var part = [UInt8](repeating: 0, count: 65_536)
            while case let count = try part.withUnsafeMutableBytes({ try file.read(into: $0) }),
                count > 0
            {
                bytes += part[..<count]
            }
        } catch let problem as FileProblem {
            throw problem
        } catch {
            throw FileProblem(path, errno: (error as? Errno)?.rawValue ?? EIO)
        }
        do throws(PlainText.Problem) {
            return try PlainText.decode(bytes)
        } catch {
            throw FileProblem(path, "it is \(error.reason)")
        }
    }

    /// The number of `/dev/null` among devices.
    private static let nullDevice: dev_t = 0x103

    /// Whether a file has an end: others, such as a pipe or a device, may have none, or other text for each reader.
    ///
    /// `/dev/null` is empty, and a folder is refused when it is read.
    private static func isFile(_ descriptor: Int32) -> Bool {
        var info = stat()
        guard fstat(descriptor, &info) == 0 else { return true }
        switch info.st_mode & S_IFMT {
        case S_IFREG, S_IFDIR: return true
        case S_IFCHR: return info.st_rdev == nullDevice
        default: return false
        }
    }
}

/// An error with a file or folder as a whole: its path, and the system's error.
struct FileProblem: Error, CustomStringConvertible {
    let path: String
    /// The system's error number; 0: none.
    let errno: Int32
    private let reason: String

    init(_ path: String, errno: Int32) {
        self.path = path
        self.errno = errno
        reason = "can't be read: \(String(cString: strerror(errno)))" + Self.reader(errno)
    }

    /// Names the user who may not read the file; queried only if needed, since the directory of users may hang.
    private static func reader(_ errno: Int32) -> String {
        guard [EACCES, EPERM].contains(errno) else { return "" }
        let user = DirectoryQuestion.answer(within: .milliseconds(500)) {
            getpwuid(geteuid()).map { "'\(String(cString: $0.pointee.pw_name))'" }
        }
        return " (read as the user \((user ?? nil) ?? "\(geteuid())"))"
    }

    init(_ path: String, _ reason: String) {
        self.path = path
        self.errno = 0
        self.reason = reason
    }

    /// Whether there is no file at the path.
    var isMissing: Bool { errno == ENOENT }

    var description: String { "\(path): \(reason)" }
}
