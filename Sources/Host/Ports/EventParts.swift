public import AtriumKit

/// What a component tells at once and may be more than one message or one turn of the loop takes, in parts: each made
/// when it is asked for.
public struct EventParts {
    /// How much a part has, at least and about; a single item may have more.
    public enum Size: Sendable {
        /// So many bytes as a message.
        case bytes(Int)
        /// So many items, tallies, counts or other events.
        case count(Int)
    }

    private let size: Size
    /// Gives further events; nil: there are none.
    private let more: () -> [ComponentEvent]?
    private var events: [ComponentEvent]
    /// The next event, and the next item of it.
    private var event = 0
    private var item = 0

    /// What is to be told, in parts of this size.
    public init(_ events: [ComponentEvent], of size: Size) {
        self.events = events
        self.size = size
        more = { nil }
        isOver = events.isEmpty
    }

    /// What is to be told, made while it is: pieces until there is none.
    public init(of size: Size, _ more: @escaping () -> [ComponentEvent]?) {
        events = []
        self.size = size
        self.more = more
        isOver = false
        goOn()
    }

    /// Whether all parts were made.
    public private(set) var isOver: Bool

    /// The next part; nothing where nothing is left.
    public mutating func next() -> [ComponentEvent] {
        var part: [ComponentEvent] = []
        var room =
            switch size {
            case .bytes(let most), .count(let most): most
            }
        while room > 0, !isOver {
            guard case .contents(let change) = events[event] else {
                room -= weight(events[event].roughSize)
                part.append(events[event])
                end()
                continue
            }
            part.append(.contents(slice(of: change, &room)))
        }
        return part
    }

    /// The present event was told.
    private mutating func end() {
        event += 1
        goOn()
    }

    private mutating func goOn() {
        while !isOver, event == events.count {
            event = 0
            events = more() ?? []
            isOver = events.isEmpty
        }
    }

    /// What something takes of a part, whose bytes are found where they count.
    private func weight(_ bytes: @autoclosure () -> Int) -> Int {
        if case .bytes = size { bytes() } else { 1 }
    }

    /// As much of a change as there is room for.
    private mutating func slice(of change: ContentChange, _ room: inout Int) -> ContentChange {
        switch change {
        case .insert(let items): return .insert(slice(of: items, &room, \.roughSize))
        case .update(let items): return .update(slice(of: items, &room, \.roughSize))
        case .remove(let ids): return .remove(slice(of: ids, &room) { $0.utf8.count + 3 })
        case .replaceAll:
            room -= weight(20)
            end()
            return change
        @unknown default:
            end()
            return change
        }
    }

    /// As many elements as there is room for.
    private mutating func slice<Element>(
        of elements: [Element], _ room: inout Int, _ bytes: (Element) -> Int
    ) -> [Element] {
        let begin = item
        while item < elements.count, room > 0 {
            room -= weight(bytes(elements[item]))
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
    /// How many items it tells of; 1 where it tells of something else.
    public var count: Int {
        switch self {
        case .contents(.insert(let items)), .contents(.update(let items)): items.count
        case .contents(.remove(let ids)): ids.count
        default: 1
        }
    }
}
