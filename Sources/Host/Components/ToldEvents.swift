import AtriumKit
import DequeModule
import Index

/// What an attached component told by itself and is too much for a turn of the loop: handed out in pieces, in order, with
/// what it said behind it.
///
/// A commit does not wait for it. What was told before the component decided on that is not handed out any more, as far
/// as the commit says something else of the same item or subject.
final class ToldEvents {
    /// How many items, tallies, counts or other events are handed out at a time.
    static let piece = 128

    /// What is handed out.
    enum Next {
        /// Something that was told, and whether it is the last of several items that were told of at once.
        case events([ComponentEvent], endsItems: Bool)
        /// Something else that was said.
        case message(ComponentMessage)
    }

    private enum Waiting {
        case events(Told)
        case message(ComponentMessage)
    }

    /// What was told at once.
    private struct Told {
        var parts: EventParts
        /// All of it, which is freed on a thread.
        let all: [ComponentEvent]
        let ticket: UInt64
    }

    /// What an event tells the present state of.
    private enum Topic: Hashable {
        case item(String)
        case tally(Subject)
        case count(Subject)
    }

    private var waiting: Deque<Waiting> = []
    /// The topics that commits told of while something waited, each with the domain's number when the last of them was
    /// decided.
    private var overtaken: [Topic: UInt64] = [:]
    /// Whether something is being handed out, or about to be.
    private(set) var isWaiting = false

    /// Something was told, under this number of the domain.
    func append(_ events: [ComponentEvent], at ticket: UInt64) {
        let parts = EventParts(events, of: .count(Self.piece))
        waiting.append(.events(Told(parts: parts, all: events, ticket: ticket)))
    }

    /// Something else was said.
    func append(_ message: ComponentMessage) { waiting.append(.message(message)) }

    /// It is to be handed out.
    ///
    /// - Returns: whether nobody does yet.
    func begin() -> Bool {
        defer { isWaiting = true }
        return !isWaiting
    }

    /// All was handed out.
    func end() {
        isWaiting = false
        overtaken = [:]
    }

    /// The next piece, which may have nothing left in it; nil: there is none.
    func next() -> Next? {
        switch waiting.popFirst() {
        case nil: return nil
        case .message(let message): return .message(message)
        case .events(var told):
            let events = present(told.parts.next(), told.ticket)
            guard told.parts.isOver else {
                waiting.prepend(.events(told))
                return .events(events, endsItems: false)
            }
            Discard.later(told.all)
            return .events(events, endsItems: told.all.contains(where: \.isOfSomeItems))
        }
    }

    /// A commit tells of these, which the component decided on when this was the domain's number.
    func overtake(_ events: [ComponentEvent], at ticket: UInt64) {
        guard isWaiting else { return }
        for event in events {
            switch event {
            case .contents(.insert(let items)), .contents(.update(let items)):
                for item in items { overtaken[.item(item.id)] = ticket }
            case .contents(.remove(let ids)): for id in ids { overtaken[.item(id)] = ticket }
            case .tally(let subject, _): overtaken[.tally(subject)] = ticket
            case .commentCount(let subject, _): overtaken[.count(subject)] = ticket
            default: break
            }
        }
    }

    /// Nobody wants it any more.
    func letGo() {
        for case .events(let told) in waiting { Discard.later(told.all) }
        waiting = []
        end()
    }

    /// Events without what was told otherwise since.
    private func present(_ events: [ComponentEvent], _ ticket: UInt64) -> [ComponentEvent] {
        guard !overtaken.isEmpty else { return events }
        let isPresent = { (topic: Topic) in self.overtaken[topic].map { $0 < ticket } ?? true }
        return events.compactMap { event in
            switch event {
            case .contents(.insert(let items)):
                .contents(.insert(items.filter { isPresent(.item($0.id)) }))
            case .contents(.update(let items)):
                .contents(.update(items.filter { isPresent(.item($0.id)) }))
            case .contents(.remove(let ids)):
                .contents(.remove(ids.filter { isPresent(.item($0)) }))
            case .tally(let subject, _): isPresent(.tally(subject)) ? event : nil
            case .commentCount(let subject, _): isPresent(.count(subject)) ? event : nil
            default: event
            }
        }
    }
}

extension ComponentEvent {
    /// Whether it tells of single items.
    var isOfSomeItems: Bool {
        if case .contents(let change) = self { change != .replaceAll } else { false }
    }
}

extension [ComponentEvent] {
    /// Whether they are more than one piece.
    var isMany: Bool {
        var count = 0
        for event in self {
            count += event.count
            if count > ToldEvents.piece { return true }
        }
        return false
    }
}
