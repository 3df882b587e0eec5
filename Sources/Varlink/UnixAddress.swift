internal import Glibc

/// The kernel's form of a Unix socket's address.
enum UnixAddress {
    /// The maximum number of bytes in a path: the kernel's room, less the NUL at its end.
    static let pathLimit = 107

    /// Calls the body with a system address; nil if the address is empty, too long, or a path that contains a NUL.
    static func with<Result>(
        _ address: VarlinkAddress, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Result
    ) -> Result? {
        switch address {
        case .path(let path):
            guard !path.utf8.contains(0) else { return nil }
            return with(Array(path.utf8), body)
        case .abstract(let name): return with([0] + Array(name.utf8), isAbstract: true, body)
        }
    }

    /// Calls the body with the system address of a path; nil if the path is empty, too long or contains a NUL.
    static func with<Result>(
        _ path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Result
    ) -> Result? {
        with(.path(path), body)
    }

    private static func with<Result>(
        _ bytes: [UInt8], isAbstract: Bool = false,
        _ body: (UnsafePointer<sockaddr>, socklen_t) -> Result
    ) -> Result? {
        guard (1...pathLimit).contains(bytes.count) else { return nil }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
        // An abstract name is as long as the address says, NULs included.
        let start = MemoryLayout<sockaddr_un>.offset(of: \.sun_path) ?? 2
        let length = isAbstract ? start + bytes.count : MemoryLayout<sockaddr_un>.size
        return withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                body($0, socklen_t(length))
            }
        }
    }
}

/// A socket of ours that is connected, or why there is none.
enum UnixConnector {
    /// Connects, without waiting; returns the descriptor, nil when the queue of connections to be accepted is full.
    static func connect(_ address: VarlinkAddress) throws(VarlinkConnectionError) -> Int32? {
        let type = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
        let descriptor = socket(AF_UNIX, type, 0)
        guard descriptor >= 0 else {
            throw VarlinkConnectionError(connectingTo: "\(address)", code: errno)
        }
        let code = UnixAddress.with(address) { Glibc.connect(descriptor, $0, $1) == 0 ? 0 : errno }
        if code == 0 { return descriptor }
        close(descriptor)
        if code == EAGAIN { return nil }
        guard let code else {
            throw VarlinkConnectionError(
                .other,
                "'\(address)' is no socket's path: it has 1 to \(UnixAddress.pathLimit) bytes, no NUL"
            )
        }
        throw VarlinkConnectionError(connectingTo: "\(address)", code: code)
    }
}
