internal import AtriumKit

/// What a restored component tells, in parts: each a message of moderate size, made when it is asked
/// for.
struct StateParts {
    /// About how many bytes a part takes as a message; a single item may take more.
    static let bytes = 256 << 10

    private let events: [ComponentEvent]
    /// The next event, and the next item of it.
    private var event = 0
    private var item = 0

    /// What is to be told.
    init(_ events: [ComponentEvent]) { self.events = events }

    /// The next part; the last one is told as such, also where there is nothing.
    mutating func next() -> WorkerAnswer {
        var part: [ComponentEvent] = []
        var room = Self.bytes
        while room > 0, event < events.count {
            if case .contents(.replaceAll(let items)) = events[event] {
                part.append(.contents(slice(of: items, &room)))
            } else {
                room -= events[event].roughBytes
                part.append(events[event])
                event += 1
            }
        }
        return .restored(part, isLast: event == events.count)
    }

    /// As many items as there is room for.
    private mutating func slice(of items: [Item], _ room: inout Int) -> ContentChange {
        let begin = item
        while item < items.count, room > 0 {
            room -= items[item].roughBytes
            item += 1
        }
        let slice = Array(items[begin..<item])
        if item == items.count {
            event += 1
            item = 0
        }
        return begin == 0 ? .replaceAll(slice) : .insert(slice)
    }
}

// About how many bytes something takes in a message.

extension ComponentEvent {
    fileprivate var roughBytes: Int {
        switch self {
        case .tally(let subject, let tally):
            120 + (subject.item?.utf8.count ?? 0) + 16 * tally.histogram.count
        case .commentCount(let subject, _): 80 + (subject.item?.utf8.count ?? 0)
        default: wire.roughBytes
        }
    }
}

extension Item {
    fileprivate var roughBytes: Int {
        fields.reduce(40 + id.utf8.count + (parent?.utf8.count ?? 0)) {
            $0 + $1.key.utf8.count + 4 + $1.value.roughBytes
        }
    }
}

extension Value {
    fileprivate var roughBytes: Int {
        switch self {
        case .text(let text): text.utf8.count + 2
        case .list(let list): list.reduce(2) { $0 + $1.roughBytes + 1 }
        case .object(let object):
            object.reduce(2) { $0 + $1.key.utf8.count + 4 + $1.value.roughBytes }
        default: 20
        }
    }
}
