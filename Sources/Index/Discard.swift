internal import Dispatch

/// Frees on a thread what takes long to free: an index of a million things.
///
/// Nothing that plugins made: they are called from the loop alone.
enum Discard {
    private static let queue = DispatchQueue(label: "atrium.discard", qos: .utility)

    /// Frees objects in a while, unless somebody holds them by then.
    static func later(_ objects: [AnyObject]) {
        // Nobody calls them there: references are counted atomically.
        nonisolated(unsafe) let objects = objects
        // So late that whoever let them go has done so.
        queue.asyncAfter(deadline: .now() + .milliseconds(100)) { withExtendedLifetime(objects) {} }
    }
}
