public import AtriumKit

/// Splits events that may be too many for one message or one turn of the loop into parts.
///
/// Each part is made when it is asked for.
public struct EventParts {
    /// About how much a part holds; a single item may be larger.
    public enum Size: Sendable {
        /// This many bytes, as a message.
        case bytes(Int)
        /// This many items, tallies, counts or other events.
        case count(Int)
    }

    private let size: Size
    /// Returns further events; nil: there are none.
    private let more: () -> [ComponentEvent]?
    private var events: [ComponentEvent]
    /// The index of the next event, and of the next item in it.
    private var event = 0
    private var item = 0

    /// Splits these events into parts of this size.
    public init(_ events: [ComponentEvent], of size: Size) {
        self.events = events
        self.size = size
        more = { nil }
        isOver = events.isEmpty
    }

    /// Splits events that are made piece by piece; `more` returns nil after the last piece.
    public init(of size: Size, _ more: @escaping () -> [ComponentEvent]?) {
        events = []
        self.size = size
        self.more = more
        isOver = false
        skipEmpty()
    }

    /// Whether all parts were returned.
    public private(set) var isOver: Bool

    /// Returns the next part; empty when nothing is left.
    public mutating func next() -> [ComponentEvent] {
        var part: [ComponentEvent] = []
        var room =
            switch size {
            case .bytes(let most), .count(let most): most
            }
        while room > 0, !isOver {
            guard case .contents(let change) = events[event] else {
                room -= size(events[event].roughSize)
                part.append(events[event])
                end()
                continue
            }
            part.append(.contents(slice(of: change, &room)))
        }
        return part
    }

    /// Moves to the next event.
    private mutating func end() {
        event += 1
        skipEmpty()
    }

    private mutating func skipEmpty() {
        while !isOver, event == events.count {
            event = 0
            events = more() ?? []
            isOver = events.isEmpty
        }
    }

    /// How much room something takes in a part; its bytes are computed only when they count.
    private func size(_ bytes: @autoclosure () -> Int) -> Int {
        if case .bytes = size { bytes() } else { 1 }
    }

    /// Returns as much of a change as there is room for.
    private mutating func slice(of change: ContentChange, _ room: inout Int) -> ContentChange {
        switch change {
        case .insert(let items): return .insert(slice(of: items, &room, \.roughSize))
        case .update(let items): return .update(slice(of: items, &room, \.roughSize))
        case .remove(let ids): return .remove(slice(of: ids, &room) { $0.utf8.count + 3 })
        case .replaceAll:
            room -= size(20)
            end()
            return change
        @unknown default:
            end()
            return change
        }
    }

    /// Returns as many elements as there is room for.
    private mutating func slice<Element>(
        of elements: [Element], _ room: inout Int, _ bytes: (Element) -> Int
    ) -> [Element] {
        let begin = item
        while item < elements.count, room > 0 {
            room -= size(bytes(elements[item]))
            item += 1
        }
        let slice = Array(elements[begin..<item])
        if item == elements.count {
            item = 0
            end()
        }
        return slice
    }
}

extension ComponentEvent {
    /// How many items it contains; 1 for an event that contains none.
    public var count: Int {
        switch self {
        case .contents(.insert(let items)), .contents(.update(let items)): items.count
        case .contents(.remove(let ids)): ids.count
        default: 1
        }
    }
}
