import AtriumKit
import DequeModule
import Index

/// Large amounts of events that an attached component reported by itself, delivered in pieces, in order, with the
/// messages between them.
///
/// Commits don't wait for these. If a commit contains a newer value of the same item or subject, the older event is
/// dropped.
final class ReportedEvents {
    /// The maximum number of items, tallies, counts or other events in a piece.
    static let piece = 128

    /// The next thing to deliver.
    enum Next {
        /// Some events, and whether they include the last of the items that were reported together.
        case events([ComponentEvent], endsItems: Bool)
        /// A message of another kind.
        case message(ComponentMessage)
    }

    private enum Waiting {
        case events(Report)
        case message(ComponentMessage)
    }

    /// Events that were reported together.
    private struct Report {
        var parts: EventParts
        /// All of the events, which are freed on a thread.
        let all: [ComponentEvent]
        let ticket: UInt64
    }

    /// Whose present state an event describes.
    private enum Topic: Hashable {
        case item(String)
        case tally(Subject)
        case count(Subject)
    }

    private var waiting: Deque<Waiting> = []
    /// The topics of commits since something is queued, each with the domain's number when the newest was decided.
    private var committedAt: [Topic: UInt64] = [:]
    /// Whether something is being delivered, or about to be.
    private(set) var isWaiting = false

    /// Appends events, which were reported at this number of the domain.
    func append(_ events: [ComponentEvent], at ticket: UInt64) {
        let parts = EventParts(events, of: .count(Self.piece))
        waiting.append(.events(Report(parts: parts, all: events, ticket: ticket)))
    }

    /// Appends another message.
    func append(_ message: ComponentMessage) { waiting.append(.message(message)) }

    /// Begins the delivery; returns false if it has begun already.
    func begin() -> Bool {
        defer { isWaiting = true }
        return !isWaiting
    }

    /// Records that everything was delivered.
    func end() {
        isWaiting = false
        committedAt = [:]
    }

    /// The next piece, which may be empty; nil: there is none.
    func next() -> Next? {
        switch waiting.popFirst() {
        case nil: return nil
        case .message(let message): return .message(message)
        case .events(var reported):
            let events = removingOvertaken(reported.parts.next(), reported.ticket)
            guard reported.parts.isOver else {
                waiting.prepend(.events(reported))
                return .events(events, endsItems: false)
            }
            Discard.later(reported.all)
            return .events(events, endsItems: reported.all.contains(where: \.isOfSomeItems))
        }
    }

    /// Records the events of a commit, which the component decided on at this number of the domain.
    func recordCommitted(_ events: [ComponentEvent], at ticket: UInt64) {
        guard isWaiting else { return }
        for event in events {
            switch event {
            case .contents(.insert(let items)), .contents(.update(let items)):
                for item in items { committedAt[.item(item.id)] = ticket }
            case .contents(.remove(let ids)): for id in ids { committedAt[.item(id)] = ticket }
            case .tally(let subject, _): committedAt[.tally(subject)] = ticket
            case .commentCount(let subject, _): committedAt[.count(subject)] = ticket
            default: break
            }
        }
    }

    /// Drops everything that is queued.
    func clear() {
        for case .events(let reported) in waiting { Discard.later(reported.all) }
        waiting = []
        end()
    }

    /// The events without those that a commit has overtaken.
    private func removingOvertaken(_ events: [ComponentEvent], _ ticket: UInt64) -> [ComponentEvent]
    {
        guard !committedAt.isEmpty else { return events }
        let isPresent = { (topic: Topic) in self.committedAt[topic].map { $0 < ticket } ?? true }
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
    /// Whether it describes single items.
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
            if count > ReportedEvents.piece { return true }
        }
        return false
    }
}
