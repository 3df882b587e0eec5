import AtriumKit
import JSONCodec
import NIOCore
import Store

/// Erases a person's records from one component.
///
/// The component's gate is closed meanwhile. The store's records, read in slices, show which ones are the person's.
/// The component applies their removal in the same way as a restore of records, and each batch is an entry of its
/// own. So the erasure may stop at any point and be started again.
///
/// If the component is not attached, its records are removed from the store without it.
final class ActorErasure {
    /// The findings of the scan.
    struct Found: Sendable {
        var ballots: [String] = []
        var comments: [Comment] = []
        /// Damaged records whose owner is unknown.
        var unreadable = UnreadableRecords()
        /// How many of the ballots, and then of the comments, are erased.
        var erased = 0

        /// The number of ballots that are erased.
        var erasedBallots: Int { min(erased, ballots.count) }
        /// The number of comments that are erased.
        var erasedComments: Int { min(erased - erasedBallots, comments.count) }
    }

    /// The most records that one entry changes.
    private static let part = 100
    /// How long to wait for a component that is starting.
    private static let patience = TimeAmount.milliseconds(50)

    private let domain: Domain
    private let container: String
    private let component: String
    private let actor: ActorID
    /// The container; nil if it is not loaded, because its definition is unreadable or was removed.
    private let home: Container?
    private var done: (Found, HostError?) -> Void = { _, _ in }
    private var found = Found()
    private var hasRefused = false
    /// Whether the component may still show records that are no longer in the store.
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

    /// Runs the erasure; `done` is called with what was found and erased, and with the error that stopped it, after which
    /// another one can be run.
    func run(_ done: @escaping (Found, HostError?) -> Void) {
        guard let home else {
            self.done = done
            return scan()
        }
        home.gates.close([component]) { [self] in
            self.done = { [component] found, error in
                done(found, error)
                home.gates.open([component])
            }
            scan()
        } orElse: {
            done(Found(), $0)
        }
    }

    private var slot: Slot? { home?.slot(component) }

    private func finish(_ error: HostError? = nil) {
        if isAhead { startAnew() }
        done(found, error)
    }

    private func scan() {
        let scan = ActorScan(of: actor, in: container, component)
        scan.run(in: domain) { [self] result in
            switch result {
            case .failure(let error): finish(error)
            case .success(let scan):
                found = scan.found
                // The component may have read them before they were damaged, so it has to be restarted.
                isAhead = found.unreadable.count > 0
                remove(scan.changes[...])
            }
        }
    }

    /// Removes some of the records, then the others.
    private func remove(_ changes: ArraySlice<Change>) {
        guard !changes.isEmpty else { return finish() }
        if domain.isStopping { return finish(domain.stopping) }
        let part = Array(changes.prefix(Self.part))
        let next: Answer<Void> = { [self] result in
            switch result {
            case .failure(let error): finish(error)
            case .success:
                found.erased += part.count
                domain.timers.afterPoll { self.remove(changes.dropFirst(part.count)) }
            }
        }
        guard let slot, !hasRefused else { return write(part, next) }
        switch slot.state {
        case .attached: apply(part, slot, next)
        case .failed, .closed: write(part, next)
        case .starting, .prepared:
            if slot.start.watch.stall != nil { return write(part, next) }
            domain.timers.after(Self.patience) { self.remove(changes) }
        }
    }

    /// Makes the component apply the removal.
    private func apply(_ part: [Change], _ slot: Slot, _ next: @escaping Answer<Void>) {
        let time = domain.now()
        let context = CommandContext(
            actor: .nobody, time: time, freshID: domain.freshID(at: time), isModerator: true,
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
                // An erasure does not depend on whether the component accepts it.
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

    /// Writes the removal without the component, which reads the store at its next start.
    private func write(_ part: [Change], _ next: @escaping Answer<Void>) {
        let changes = part.map { RecordChange($0, container, component) }
        guard let home else { return domain.append(changes) { next($0.map { _ in }) } }
        let (topic, payload, time) = (
            EntryTopic.recordsErased.name(in: container), payload(part.count), domain.now()
        )
        home.lane.append(
            changes: changes, topic: topic, payload: payload, by: nil, at: time
        ) { [self] result in
            if case .success(let commit) = result {
                home.comments.removeTexts(
                    of: part.filter(\.endsText).map(\.key), in: component, at: commit)
                home.delivery.announce(topic, commit, time: time, actor: nil, payload: payload)
                isAhead = true
            }
            next(result.map { _ in })
        }
    }

    /// Restarts a component that may still hold erased records, so that it reads the store again.
    private func startAnew() {
        guard let slot else { return }
        switch slot.state {
        case .failed, .closed: return
        case .starting, .prepared, .attached:
            // Not during the component's own callback.
            domain.timers.later {
                slot.restart(because: "It did not forget a person's records, which were erased.")
            }
        }
    }
}

extension Change {
    /// Whether the change removes a comment's text; removing only a moderator's reason keeps it.
    fileprivate var endsText: Bool {
        guard let value, let comment = Comment(key: key, value: value) else { return true }
        return comment.text == nil
    }
}
