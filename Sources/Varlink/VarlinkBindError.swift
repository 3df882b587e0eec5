internal import Glibc

/// Why a server could not listen at a path.
public struct VarlinkBindError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The path at which the server should have listened.
    public let path: String

    /// The operation that failed: a system call's name, or a sentence.
    public let reason: String

    /// The system's error number, where a system call failed.
    public let code: Int32?

    init(_ path: String, _ reason: String, _ code: Int32?) {
        self.path = path
        self.reason = reason
        self.code = code
    }

    /// The whole sentence.
    public var description: String {
        guard let code else { return "can't listen at \(path): \(reason)" }
        let hint =
            switch code {
            case ENAMETOOLONG: ": a socket's path has at most \(UnixAddress.pathLimit) bytes"
            case ENOENT: ": its directory does not exist"
            case EACCES, EPERM:
                ": this user may not write in its directory, or is not in the socket's group"
            default: ""
            }
        return "can't listen at \(path): \(reason): \(String(cString: strerror(code)))\(hint)"
    }
}
