import Interfaces

/// Highlighting of items and comments that changed a moment ago.
struct Highlights {
    /// How long it lasts, in seconds.
    private static let duration = 1.5
    /// The end, by id of the item or comment.
    private var ends: [String: Double] = [:]

    /// The time at which the next of them ends; nil: there is none.
    var nextEnd: Double? { ends.values.min() }

    func contains(_ id: String) -> Bool { ends[id] != nil }

    /// Highlights what others, or the person, changed.
    mutating func add(_ changes: [ScreenChange], now: Double) {
        for change in changes {
            switch change.edit {
            case .inserted(.comment(let comment), _), .updated(.comment(let comment), _):
                ends[comment.id] = now + Self.duration
            case .updated(.item(let item), _): ends[item.id] = now + Self.duration
            default: break
            }
        }
    }

    /// Ends those whose time is over; returns whether there were any.
    mutating func expire(at time: Double) -> Bool {
        let before = ends.count
        ends = ends.filter { $0.value > time }
        return ends.count != before
    }
}
