import CSystemd
import Glibc

/// The descriptors that the service manager passed to this process, each to be taken by its name.
///
/// The name is the socket unit's `FileDescriptorName=`, or that under which a descriptor was given to the manager to
/// keep; a unit without one passes its own name. A caller takes the descriptors of a name and owns them from then on;
/// the others are closed with ``closeRest()``.
public struct PassedDescriptors: Sendable {
    /// One descriptor (close-on-exec) with its name.
    public struct Descriptor: Sendable, Equatable {
        /// Its name; several may have the same.
        public let name: String
        /// The descriptor.
        public let number: Int32
    }

    /// The descriptors that were not taken yet, in the manager's order.
    public private(set) var rest: [Descriptor]

    /// Takes over the descriptors that the manager passed; empty after an ordinary start.
    ///
    /// The variables of the protocol are removed from the environment, so that children don't use the descriptors: a
    /// second call finds none. Call it before any thread is started. It throws when the manager announced descriptors
    /// that can't be taken over.
    public static func receive() throws(ListenError) -> PassedDescriptors {
        var names: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
        let count = sd_listen_fds_with_names(1, &names)
        guard count >= 0 else { throw ListenError(errno: -count) }
        guard count > 0, let names else { return PassedDescriptors(rest: []) }
        defer { free(names) }
        return PassedDescriptors(
            rest: (0..<Int(count)).map { index in
                defer { free(names[index]) }
                let name = names[index].map { String(cString: $0) } ?? ""
                return Descriptor(name: name, number: Int32(index) + SD_LISTEN_FDS_START)
            })
    }

    /// Takes the descriptors of a name, in their order; the caller owns them.
    public mutating func take(named name: String) -> [Int32] {
        take { $0.name == name }.map(\.number)
    }

    /// Takes the descriptors that fit, in their order; the caller owns them.
    public mutating func take(where fits: (Descriptor) -> Bool) -> [Descriptor] {
        let taken = rest.filter(fits)
        rest.removeAll { taken.contains($0) }
        return taken
    }

    /// Closes those that nobody took, and returns their names, in order.
    public mutating func closeRest() -> [String] {
        defer { rest = [] }
        return rest.map { descriptor in
            close(descriptor.number)
            return descriptor.name
        }
    }
}

/// A listening Unix socket, which the service manager opened for us.
public struct ListeningSocket: Sendable, Equatable {
    /// The descriptor.
    public let number: Int32
    /// Its file, or `@` and a name that has none.
    public let path: String
    /// The group that its file belongs to; nil without a file.
    public let group: UInt32?

    /// Reads the properties of a listening Unix stream socket, which stays the caller's; nil for any other
    /// descriptor.
    ///
    /// Other sockets have no credentials of their peers.
    public init?(_ number: Int32) {
        guard sd_is_socket_unix(number, Int32(SOCK_STREAM.rawValue), 1, nil, 0) > 0 else {
            return nil
        }
        self.number = number
        path = Self.path(of: number)
        var info = stat()
        group = !path.hasPrefix("@") && stat(path, &info) == 0 ? info.st_gid : nil
    }

    private static func path(of number: Int32) -> String {
        var address = sockaddr_un()
        var length = socklen_t(MemoryLayout<sockaddr_un>.size)
        let known = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                getsockname(number, $0, &length)
            }
        }
        let head = MemoryLayout<sa_family_t>.size
        guard known == 0, Int(length) > head else { return "@" }
        return withUnsafeBytes(of: address.sun_path) { bytes in
            let name = bytes.prefix(Int(length) - head)
            if name.first == 0 { return "@" + String(decoding: name.dropFirst(), as: UTF8.self) }
            return String(decoding: name.prefix { $0 != 0 }, as: UTF8.self)
        }
    }
}

/// The descriptors announced in `LISTEN_FDS` could not be taken over.
public struct ListenError: Error, CustomStringConvertible {
    /// The system's error number.
    public let errno: Int32

    /// A sentence that names the operation, the reason, and where to look.
    public var description: String {
        let reason = String(cString: strerror(errno))
        return "the sockets passed in LISTEN_FDS can't be used: \(reason); check the socket unit"
    }
}
