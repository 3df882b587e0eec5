import CSystemd
import Glibc

/// The listening sockets that the service manager opened for this process, in its order.
///
/// The name is the socket unit's `FileDescriptorName=`; a unit without one passes its own name. The
/// result is empty when the process was not activated by a socket. The variables of the protocol
/// are removed from the environment, so that children don't take the descriptors for theirs, and a
/// second call returns nothing. Call it before any thread is started: it changes the environment.
///
/// - Returns: Names and open descriptors (close-on-exec); the caller owns the descriptors.
/// - Throws: ``ListenError`` when the manager announced descriptors that can't be taken over.
public func listenDescriptors() throws(ListenError) -> [(name: String, fd: Int32)] {
    var names: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
    let count = sd_listen_fds_with_names(1, &names)
    guard count >= 0 else { throw ListenError(errno: -count) }
    guard count > 0, let names else { return [] }
    defer { free(names) }
    return (0..<Int(count)).map { index in
        defer { free(names[index]) }
        let name = names[index].map { String(cString: $0) } ?? ""
        return (name, Int32(index) + SD_LISTEN_FDS_START)
    }
}

/// The descriptors announced in `LISTEN_FDS` could not be taken over.
public struct ListenError: Error, CustomStringConvertible {
    /// The system's error number.
    public let errno: Int32

    /// What failed, why, and where to look.
    public var description: String {
        let reason = String(cString: strerror(errno))
        return "the sockets passed in LISTEN_FDS can't be used: \(reason); check the socket unit"
    }
}
