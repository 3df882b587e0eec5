internal import AtriumKit
internal import Host

/// What a component tells at once and may be more than one message takes, in parts: each made when it is
/// asked for.
struct StateParts {
    /// About how many bytes a part of a restored state takes as a message; a single item may take more.
    static let bytes = 256 << 10

    private let events: [ComponentEvent]
    private let bytes: Int
    /// The next event, and the next item of it.
    private var event = 0
    private var item = 0

    /// What is to be told, in parts of about so many bytes.
    init(_ events: [ComponentEvent], bytes: Int = Self.bytes) {
        self.events = events
        self.bytes = bytes
    }

    /// Whether all parts were made.
    var isOver: Bool { event == events.count }

    /// The next part; nothing where nothing is left.
    mutating func next() -> [ComponentEvent] {
        var part: [ComponentEvent] = []
        var room = bytes
        while room > 0, !isOver {
            guard case .contents(let change) = events[event] else {
                room -= events[event].roughSize
                part.append(events[event])
                event += 1
                continue
            }
            part.append(.contents(slice(of: change, &room)))
        }
        return part
    }

    /// As much of a change as there is room for: what replaces all is followed by what is inserted.
    private mutating func slice(of change: ContentChange, _ room: inout Int) -> ContentChange {
        let isFirst = item == 0
        switch change {
        case .insert(let items): return .insert(slice(of: items, &room, \.roughSize))
        case .update(let items): return .update(slice(of: items, &room, \.roughSize))
        case .remove(let ids): return .remove(slice(of: ids, &room) { $0.utf8.count + 3 })
        case .replaceAll(let items):
            let slice = slice(of: items, &room, \.roughSize)
            return isFirst ? .replaceAll(slice) : .insert(slice)
        @unknown default:
            event += 1
            return change
        }
    }

    /// As many elements as there is room for.
    private mutating func slice<Element>(
        of elements: [Element], _ room: inout Int, _ bytes: (Element) -> Int
    ) -> [Element] {
        let begin = item
        while item < elements.count, room > 0 {
            room -= bytes(elements[item])
            item += 1
        }
        let slice = Array(elements[begin..<item])
        if item == elements.count {
            event += 1
            item = 0
        }
        return slice
    }
}
