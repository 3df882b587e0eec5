internal import Glibc

/// Descriptors that a peer sends along with its bytes: never wanted.
///
/// A plain read drops them. Since Linux 6.16 they can be turned away before they are queued.
enum DescriptorPassing {
    /// `SO_PASSRIGHTS`; the C library does not name it yet.
    private static let passRights: Int32 = 83

    /// Makes the kernel refuse descriptors on a socket, and on those accepted from it.
    ///
    /// An older kernel has no such option and returns an error; there, descriptors are dropped as they arrive.
    static func refuse(on descriptor: Int32) {
        var isOn: Int32 = 0
        setsockopt(
            descriptor, SOL_SOCKET, passRights, &isOn, socklen_t(MemoryLayout<Int32>.size))
    }
}
