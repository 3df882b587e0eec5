internal import Dispatch
internal import Glibc
internal import Synchronization

/// Frees objects on a thread if that takes long, such as an index of a million items.
///
/// Objects of plugins are not freed this way: plugins are called on the loop only.
package enum Discard {
    /// The objects that are freed together.
    private struct Pile: @unchecked Sendable {
        // Nobody calls them on the thread: references are counted atomically.
        var objects: [AnyObject] = []
    }

    /// Holds a value until it is freed.
    private final class Box<T: Sendable>: Sendable {
        let value: T

        init(_ value: T) { self.value = value }
    }

    private static let queue = DispatchQueue(label: "atrium.discard", qos: .utility)
    private static let pile = Mutex(Pile())

    /// Frees objects after a while, unless they are still referenced by then.
    package static func later(_ objects: [AnyObject]) {
        let isFirst = pile.withLock { pile in
            defer { pile.objects += objects }
            return pile.objects.isEmpty
        }
        guard isFirst, !objects.isEmpty else { return }
        queue.async {
            // So late that whoever let them go has done so. Asleep, and not by `asyncAfter`: for that libdispatch
            // keeps a timer of the kernel from then on.
            usleep(100_000)
            let taken = pile.withLock { pile in
                defer { pile = Pile() }
                return pile
            }
            withExtendedLifetime(taken) {}
        }
    }

    /// Does the same as ``later(_:)`` for a value, to which the caller keeps no reference.
    package static func later(_ value: some Sendable) { later([Box(value)]) }
}
