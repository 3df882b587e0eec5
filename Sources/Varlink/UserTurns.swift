internal import NIOCore

/// A line in which users take turns, however many places one of them has in it.
///
/// Elements of one user leave in the order in which they came.
struct UserTurns<Element> {
    private struct Line {
        let user: UInt32
        var elements: CircularBuffer<Element>
    }

    /// The users who have elements; few have at the same time, and mostly one.
    private var lines: [Line] = []
    /// Whose turn it is.
    private var next = 0
    private(set) var count = 0

    var isEmpty: Bool { count == 0 }

    mutating func append(_ element: Element, of user: UInt32) {
        count += 1
        if let place = lines.firstIndex(where: { $0.user == user }) {
            lines[place].elements.append(element)
        } else {
            lines.append(Line(user: user, elements: [element]))
        }
    }

    /// Takes the next element of the user whose turn it is; nil: there is none.
    mutating func popFirst() -> Element? {
        guard !lines.isEmpty else { return nil }
        let element = lines[next].elements.removeFirst()
        count -= 1
        if lines[next].elements.isEmpty {
            lines.remove(at: next)
        } else {
            next += 1
        }
        if next >= lines.count { next = 0 }
        return element
    }
}
