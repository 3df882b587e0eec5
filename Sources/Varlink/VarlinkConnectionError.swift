internal import Glibc

/// Why a service can't be reached, or was lost.
public struct VarlinkConnectionError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The kinds of failure.
    public enum Kind: Sendable, Hashable {
        /// There is no socket at the path.
        case notFound
        /// There is a socket, and no process listens on it.
        case refused
        /// The socket's owner, group and mode do not let this user connect.
        case accessDenied
        /// The service did not accept the connection in time.
        case timedOut
        /// The connection has ended; calls without a reply may have been carried out or not.
        case closed
        /// The other side sent a message that the protocol, or the method's reply, does not allow.
        case protocolViolation
        /// The connection speaks another protocol, or is about to: calls need one of their own.
        case upgraded
        /// More than ``VarlinkLimits/queuedBytes`` wait to be sent, since the service does not read them.
        case overflow
        /// Another error of a system call.
        case other
    }

    /// The kind of failure.
    public let kind: Kind

    /// The failure as a sentence.
    public let description: String

    init(_ kind: Kind, _ description: String) {
        self.kind = kind
        self.description = description
    }

    /// The error for a failed system call on the way to the socket at `path`.
    init(connectingTo path: String, code: Int32) {
        let reason = String(cString: strerror(code))
        switch code {
        case ENOENT, ENOTDIR:
            self.init(.notFound, "there is no socket at \(path)")
        case ECONNREFUSED where Self.isOther(path):
            self.init(.notFound, "\(path) is no socket")
        case ECONNREFUSED:
            self.init(.refused, "nobody listens on the socket \(path)")
        case EACCES, EPERM:
            self.init(.accessDenied, "this user may not connect to the socket \(path)")
        default:
            self.init(.other, "can't connect to the socket \(path): \(reason)")
        }
    }

    /// Whether a file or a folder is at a path, to which connecting fails as to a socket on which nobody listens.
    private static func isOther(_ path: String) -> Bool {
        var info = stat()
        return stat(path, &info) == 0 && info.st_mode & S_IFMT != S_IFSOCK
    }

    static let closed = VarlinkConnectionError(
        .closed, "the connection was closed before the reply")

    static let upgraded = VarlinkConnectionError(
        .upgraded, "the connection was asked to speak another protocol; calls need another one")

    static func queueIsFull(_ limit: Int) -> VarlinkConnectionError {
        VarlinkConnectionError(
            .overflow,
            "more than \(limit) bytes of calls wait for a service that does not read them "
                + "(limits.queuedBytes)")
    }
}
