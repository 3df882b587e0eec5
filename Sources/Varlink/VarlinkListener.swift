internal import Glibc

/// A listening Unix socket at a path, which only the intended users can connect to from the first moment on.
///
/// ``VarlinkServer/Address/path(_:mode:group:)`` makes one that ends with its server. One that is made apart
/// from a server, which is given ``VarlinkServer/Address/descriptor(_:)``, can stay open for another process:
/// clients that connect meanwhile wait.
public struct VarlinkListener: Sendable {
    /// The listening descriptor, non-blocking; the owner of the listener closes it.
    public let descriptor: Int32

    /// The file that was made, to be removed if it is still the same when the server ends.
    let file: SocketFile

    /// The path at which it listens.
    public var path: String { file.path }

    /// Identifies its file among all that may ever be at its path, in any process: digits and one `-`.
    public var identity: String { file.identity }

    /// Binds and listens.
    ///
    /// A socket file left by a server that is gone is replaced; one on which a process listens is not, nor is any other
    /// kind of file.
    ///
    /// - Parameters:
    ///   - path: The path of the socket.
    ///   - mode: The file's mode, before anyone can connect.
    ///   - group: The file's group, by name or by number; nil: it is not changed.
    /// - Throws: ``VarlinkBindError``.
    public init(path: String, mode: UInt32, group: String?) throws(VarlinkBindError) {
        let descriptor = socket(
            AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue), 0
        )
        guard descriptor >= 0 else { throw VarlinkBindError(path, "socket", errno) }
        DescriptorPassing.refuse(on: descriptor)
        do throws(VarlinkBindError) {
            let group = try group.map { name throws(VarlinkBindError) in
                try VarlinkListener.number(ofGroup: name, for: path)
            }
            // The file's first mode is the socket's own: there is no moment at which others may connect.
            guard fchmod(descriptor, 0o600) == 0 else {
                throw VarlinkBindError(path, "fchmod", errno)
            }
            try VarlinkListener.bindReplacingStale(descriptor, path)
            try VarlinkListener.open(path, mode, group)
            guard VarlinkListener.listen(on: descriptor) else {
                throw VarlinkBindError(path, "listen", errno)
            }
            guard let file = SocketFile(path: path) else {
                throw VarlinkBindError(path, "stat", errno)
            }
            self.descriptor = descriptor
            self.file = file
        } catch {
            close(descriptor)
            throw error
        }
    }

    /// Takes over a socket that another process made; nil if no client can reach it, because its file was removed or
    /// replaced.
    ///
    /// - Parameters:
    ///   - descriptor: A socket that listens.
    ///   - path: The path that it is bound to.
    ///   - identity: The value of ``identity`` in the process that made it.
    public init?(descriptor: Int32, path: String, identity: String) {
        guard let file = SocketFile(path: path), file.identity == identity else { return nil }
        self.descriptor = descriptor
        self.file = file
    }

    /// Gives the file a mode and a group as ``init(path:mode:group:)`` does.
    ///
    /// - Parameters:
    ///   - mode: The file's mode.
    ///   - group: The file's group, by name or by number; nil: as it is.
    /// - Throws: ``VarlinkBindError``.
    public func allow(mode: UInt32, group: String?) throws(VarlinkBindError) {
        let group = try group.map { name throws(VarlinkBindError) in
            try VarlinkListener.number(ofGroup: name, for: path)
        }
        try VarlinkListener.open(path, mode, group)
    }

    /// Removes the file, unless another has taken its place.
    public func removeFile() { file.remove() }

    /// Listens, with room for clients that all come back at once after a restart; returns whether it succeeded: if
    /// not, `errno` has the reason.
    @discardableResult
    static func listen(on descriptor: Int32) -> Bool {
        Glibc.listen(descriptor, 4_096) == 0
    }

    private static func open(
        _ path: String, _ mode: UInt32, _ group: gid_t?
    ) throws(VarlinkBindError) {
        if let group, !belongs(path, to: group), chown(path, uid_t.max, group) != 0 {
            throw VarlinkBindError(path, "chown", errno)
        }
        guard chmod(path, mode) == 0 else { throw VarlinkBindError(path, "chmod", errno) }
    }

    /// Whether the file belongs to the group already, so that nothing has to be changed: a sandbox may refuse the
    /// system call.
    private static func belongs(_ path: String, to group: gid_t) -> Bool {
        var info = stat()
        return lstat(path, &info) == 0 && info.st_gid == group
    }

    private static func bindReplacingStale(
        _ descriptor: Int32, _ path: String
    ) throws(VarlinkBindError) {
        let bound = bind(descriptor, path)
        guard bound != 0 else { return }
        guard bound == EADDRINUSE else { throw VarlinkBindError(path, "bind", bound) }
        guard SocketFile(path: path) != nil else {
            throw VarlinkBindError(path, "there is another kind of file, which is left alone", nil)
        }
        let probe = socket(
            AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue), 0
        )
        guard probe >= 0 else { throw VarlinkBindError(path, "socket", errno) }
        defer { close(probe) }
        let answer =
            UnixAddress.with(path) { connect(probe, $0, $1) == 0 ? 0 : errno } ?? ENAMETOOLONG
        guard answer == ECONNREFUSED else {
            throw VarlinkBindError(path, "another server answers there: stop it first", nil)
        }
        unlink(path)
        let again = bind(descriptor, path)
        guard again == 0 else { throw VarlinkBindError(path, "bind", again) }
    }

    /// - Returns: 0, or the system's error number.
    private static func bind(_ descriptor: Int32, _ path: String) -> Int32 {
        UnixAddress.with(path) { Glibc.bind(descriptor, $0, $1) == 0 ? 0 : errno } ?? ENAMETOOLONG
    }

    private static func number(
        ofGroup name: String, for path: String
    ) throws(VarlinkBindError) -> gid_t {
        // No group is called by a number alone: the directory of groups, which may hang, is not asked.
        if let number = gid_t(name) { return number }
        var entry = group()
        var result: UnsafeMutablePointer<group>?
        var buffer = [CChar](repeating: 0, count: 64 << 10)
        let status = getgrnam_r(name, &entry, &buffer, buffer.count, &result)
        guard status == 0, result != nil else {
            throw VarlinkBindError(path, "there is no group '\(name)' to give the socket to", nil)
        }
        return entry.gr_gid
    }
}

/// A socket's file, recognised again by its inode.
struct SocketFile: Sendable {
    let path: String
    /// The numbers of its device and of its inode.
    let identity: String

    /// The socket at a path; nil when there is none, or another kind of file.
    init?(path: String) {
        var status = stat()
        guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFSOCK else { return nil }
        self.path = path
        identity = "\(status.st_dev)-\(status.st_ino)"
    }

    /// Removes the file, unless another has taken its place.
    func remove() {
        if SocketFile(path: path)?.identity == identity { unlink(path) }
    }
}
