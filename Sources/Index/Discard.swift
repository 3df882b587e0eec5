internal import Dispatch
internal import Glibc

/// Frees on a thread what takes long to free: an index of a million things.
///
/// Nothing that plugins made: they are called from the loop alone.
enum Discard {
    private static let queue = DispatchQueue(label: "atrium.discard", qos: .utility)

    /// Frees objects in a while, unless somebody holds them by then.
    static func later(_ objects: [AnyObject]) {
        // Nobody calls them there: references are counted atomically.
        nonisolated(unsafe) let objects = objects
        queue.async {
            // So late that whoever let them go has done so. Asleep, and not by `asyncAfter`: for that libdispatch
            // keeps a timer of the kernel from then on.
            usleep(100_000)
            withExtendedLifetime(objects) {}
        }
    }
}
