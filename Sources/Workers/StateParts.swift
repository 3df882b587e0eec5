internal import AtriumKit
internal import Host

/// What a component tells at once and may be more than one message takes, in parts: each made when it is
/// asked for.
struct StateParts {
    /// About how many bytes a part of a restored state takes as a message; a single item may take more.
    static let bytes = 256 << 10

    private let bytes: Int
    /// Gives further events; nil: there are none.
    private let more: () -> [ComponentEvent]?
    private var events: [ComponentEvent]
    /// The next event, and the next item of it.
    private var event = 0
    private var item = 0

    /// What is to be told, in parts of about so many bytes.
    init(_ events: [ComponentEvent], bytes: Int = Self.bytes) {
        self.events = events
        self.bytes = bytes
        more = { nil }
        isOver = events.isEmpty
    }

    /// What is to be told, made while it is: pieces until there is none.
    init(_ more: @escaping () -> [ComponentEvent]?) {
        events = []
        bytes = Self.bytes
        self.more = more
        isOver = false
        goOn()
    }

    /// Whether all parts were made.
    private(set) var isOver: Bool

    /// The next part; nothing where nothing is left.
    mutating func next() -> [ComponentEvent] {
        var part: [ComponentEvent] = []
        var room = bytes
        while room > 0, !isOver {
            guard case .contents(let change) = events[event] else {
                room -= events[event].roughSize
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

    /// As much of a change as there is room for.
    private mutating func slice(of change: ContentChange, _ room: inout Int) -> ContentChange {
        switch change {
        case .insert(let items): return .insert(slice(of: items, &room, \.roughSize))
        case .update(let items): return .update(slice(of: items, &room, \.roughSize))
        case .remove(let ids): return .remove(slice(of: ids, &room) { $0.utf8.count + 3 })
        case .replaceAll:
            room -= 20
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
            room -= bytes(elements[item])
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
