import AtriumKit
import JSONCodec
import LogMessages
import NIOCore
import Store

/// A person's records of one component on their way out.
///
/// The component's gate is closed meanwhile. What is theirs the store's records tell, which are read in
/// slices; the component takes their absence over as it takes over records that are put back, each
/// batch with an entry of its own. So it may end at any point, and be begun again.
///
/// Of a component that is not there the records go all the same.
final class ActorErasure {
    /// What goes.
    struct Found: Sendable {
        var ballots: [String] = []
        var comments: [Comment] = []
        /// Records of which nobody can tell whose they are.
        var unreadable = UnreadableRecords()
    }

    /// How many records one entry changes at most.
    private static let part = 100
    /// How long a component that is being started is waited for.
    private static let patience = TimeAmount.milliseconds(50)

    private let domain: Domain
    private let container: String
    private let component: String
    private let actor: ActorID
    /// Nil: it is not loaded, since its definition can't be read, or there is none any more.
    private let home: Container?
    private var done: Answer<Found> = { _ in }
    private var found = Found()
    private var hasRefused = false
    /// Whether the component may show what its records do not say.
    private var isAhead = false

    init(
        of actor: ActorID, from component: String, in container: String, at home: Container?,
        _ domain: Domain
    ) {
        self.actor = actor
        self.component = component
        self.container = container
        self.home = home
        self.domain = domain
    }

    /// Erases them.
    ///
    /// - Parameter done: what was there; or why it could not be ended, to be begun again later.
    func run(_ done: @escaping Answer<Found>) {
        guard let home else {
            self.done = done
            return look()
        }
        home.gate([component]) { [self] in
            self.done = { [component] result in
                done(result)
                home.open([component])
            }
            look()
        }
    }

    private var slot: Slot? { home?.slot(component) }

    private func finish(_ result: Result<Found, HostError>) {
        if isAhead { startAnew() }
        done(result)
    }

    private func look() {
        let scan = ActorScan(of: actor, in: container, component)
        scan.run(in: domain) { [self] result in
            switch result {
            case .failure(let error): finish(.failure(error))
            case .success(let scan):
                found = scan.found
                // What it read before they were damaged is shown to nobody.
                isAhead = found.unreadable.count > 0
                forget(scan.changes[...])
            }
        }
    }

    /// Has some records forgotten, then the others.
    private func forget(_ changes: ArraySlice<Change>) {
        guard !changes.isEmpty else { return finish(.success(found)) }
        if domain.isStopping { return finish(.failure(domain.stopping)) }
        let part = Array(changes.prefix(Self.part))
        let next: Answer<Void> = { [self] result in
            switch result {
            case .failure(let error): finish(.failure(error))
            case .success:
                domain.afterPoll { self.forget(changes.dropFirst(part.count)) }
            }
        }
        guard let slot, !hasRefused else { return write(part, next) }
        switch slot.state {
        case .attached: takeOver(part, slot, next)
        case .failed, .closed: write(part, next)
        case .starting, .prepared:
            if slot.stall != nil { return write(part, next) }
            domain.after(Self.patience) { self.forget(changes) }
        }
    }

    /// Has the component take it over.
    private func takeOver(_ part: [Change], _ slot: Slot, _ next: @escaping Answer<Void>) {
        let context = CommandContext(
            actor: .nobody, time: domain.now(), freshID: domain.freshID(), isModerator: true,
            order: Int64(clamping: domain.nextTicket()))
        guard let home else { return }
        let command = RestoreCommand(part, to: slot, of: home, context) { [self] _ in
            EntryDraft(topic: .recordsErased, payload: payload(part.count))
        } done: { [self] result in
            switch result {
            case .success: next(.success(()))
            case .failure(.storeUnavailable(let reason, let seconds)):
                next(.failure(.storeUnavailable(reason: reason, retryAfter: seconds)))
            case .failure:
                // It does not depend on the component's will.
                hasRefused = true
                write(part, next)
            }
        }
        command.queue()
    }

    private func payload(_ count: Int) -> [UInt8] {
        Payload.object {
            $0.member("component", component)
            $0.member("count", count)
        }
    }

    /// Writes it without the component, which reads the store when it is started the next time.
    private func write(_ part: [Change], _ next: @escaping Answer<Void>) {
        let changes = part.map { RecordChange($0, container, component) }
        guard let home else { return domain.append(changes) { next($0.map { _ in }) } }
        let (topic, payload, time) = (
            EntryTopic.recordsErased.name(in: container), payload(part.count), domain.now()
        )
        home.append(
            changes: changes, topic: topic, payload: payload, by: nil, at: time
        ) { [self] result in
            if case .success(let commit) = result {
                home.forgetTexts(
                    of: part.filter(\.endsText).map(\.key), in: component, at: commit)
                home.announce(topic, commit, time: time, actor: nil, payload: payload)
                isAhead = true
            }
            next(result.map { _ in })
        }
    }

    /// Has a component that may have read what is gone read the store again.
    private func startAnew() {
        guard let slot else { return }
        switch slot.state {
        case .failed, .closed: return
        case .starting, .prepared, .attached:
            // Not while it is handing over its answer.
            domain.later {
                slot.lost(because: "It did not forget a person's records, which were erased.")
            }
        }
    }
}

extension Change {
    /// Whether a comment says nothing after it: one that loses a moderator's reason alone keeps its text.
    fileprivate var endsText: Bool {
        guard let value, let comment = Comment(key: key, value: value) else { return true }
        return comment.text == nil
    }
}

extension Container {
    /// Has nobody told or shown any more what comments say whose component is not there to say so.
    fileprivate func forgetTexts(of comments: [String], in component: String, at commit: Commit) {
        for comment in comments {
            domain.bus.change(
                RecordKey(container: name, component: component, key: comment), to: nil,
                at: commit.sequence)
        }
        screens?.commentsGone(Set(comments), of: component)
    }
}
