import DequeModule

/// The purpose for which something waits in a queue.
enum QueuePurpose: UInt8 {
    case placement = 1
    case update = 2
    case waking = 4
}

/// The queues in which something waits; only ``OnceQueue`` changes them.
struct QueueMarks {
    fileprivate var bits: UInt8 = 0
}

/// An object that can wait in a ``OnceQueue``: in one of each purpose.
protocol Queueable: AnyObject {
    var queueMarks: QueueMarks { get set }
}

/// A queue in which each element waits once, however often it is added.
///
/// An element is marked while it waits, so nothing is hashed or searched.
struct OnceQueue<Element: Queueable> {
    /// The elements in order, and removed ones, which are not marked.
    private var elements: Deque<Element> = []
    private let bit: UInt8

    init(for purpose: QueuePurpose) { bit = purpose.rawValue }

    /// Whether it has neither elements nor removed ones that ``popFirst()`` has not passed.
    var isEmpty: Bool { elements.isEmpty }

    func contains(_ element: Element) -> Bool { element.queueMarks.bits & bit != 0 }

    /// Adds an element at the end; returns whether it did not wait already.
    @discardableResult
    mutating func append(_ element: Element) -> Bool {
        guard !contains(element) else { return false }
        element.queueMarks.bits |= bit
        elements.append(element)
        return true
    }

    /// Takes an element out of its turn; returns whether it waited.
    mutating func remove(_ element: Element) -> Bool {
        guard contains(element) else { return false }
        element.queueMarks.bits &= ~bit
        return true
    }

    /// Takes the first element; nil: none waits.
    mutating func popFirst() -> Element? {
        while let element = elements.popFirst() {
            if remove(element) { return element }
        }
        return nil
    }
}
