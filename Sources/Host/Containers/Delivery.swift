import AtriumKit
import Index
import Logging
import Store

extension Container {
    /// The delivery of what was committed, and of what components report.
    var delivery: Delivery { Delivery(container: self) }
}

/// The delivery of what was committed, and of what components report: to the delegate, to screens, to subscribers.
///
/// The delegate's default puts components' events into the lists: ``DelegateHandle``. Events about selections are not
/// delivered here, but by the screens that they are about.
struct Delivery {
    let container: Container

    private var domain: Domain { container.domain }
}

// MARK: - Commits

extension Delivery {
    /// Shows a command's commit in lists and on screens, and posts its notification, in this order.
    func show(_ commit: Commit, of command: Command, _ decision: Decision, _ entry: EntryDraft) {
        let slot = command.slot
        let text = container.comments.updateTexts(of: decision, from: slot, entry, commit)
        command.atCommit()
        updateBallots(
            decision, by: command.context.actor, from: slot,
            isAlone: entry.others.isEmpty && entry.purges.isEmpty)
        deliver(decision.events, from: slot, reportedAt: command.decidedAt)
        if decision.changes.count > Slices.much { domain.slices.rest() }
        announce(
            command.topic, commit, time: command.context.time, actor: command.actor,
            payload: entry.payload, restricted: entry.restricted, about: entry.comment, says: text)
    }

    /// Updates screens that show their users' own ballots, after a commit, with which records of other components may
    /// have changed.
    private func updateBallots(
        _ decision: Decision, by actor: ActorID, from slot: Slot, isAlone: Bool
    ) {
        if case .ballot(_, _, let value) = decision.answer,
            case .tally(let subject, _) = decision.events.first(where: \.isTally)
        {
            container.screens?.ballotChanged(value, of: actor, on: subject, in: slot)
        } else if slot.name == container.derived.votes || !isAlone {
            // The ballots were restored, or purged with the items.
            container.screens?.ballotsChanged()
        }
    }

    /// Updates screens after a commit that the indexes already show, then posts its notification.
    func announce(
        _ topic: String?, _ commit: Commit, time: Timestamp, actor: ActorID?, payload: [UInt8],
        restricted: [UInt8]? = nil, about comment: RecordKey? = nil, says text: CommentText? = nil
    ) {
        if let actor { domain.actors.stored(actor) }
        container.screens?.committed()
        guard let topic else { return domain.bus.advance(to: commit.sequence) }
        domain.bus.post(
            BusNotification(
                sequence: commit.sequence, time: time, topic: topic, actor: actor,
                payload: payload, restricted: restricted, comment: comment), says: text)
    }
}

// MARK: - Events

extension Delivery {
    /// Delivers a component's events to the delegate, and to those of containers that have this one as a part.
    ///
    /// - Parameters:
    ///   - events: the events.
    ///   - slot: the component's slot.
    ///   - ticket: the domain's number when the component decided; nil: the present one. Events that the component
    ///     reported by itself before this are overtaken, later ones are not.
    func deliver(_ events: [ComponentEvent], from slot: Slot, reportedAt ticket: UInt64? = nil) {
        slot.reports.recordCommitted(events, at: ticket ?? domain.lastTicket)
        callDelegates(with: events, from: slot)
    }

    private func callDelegates(with events: [ComponentEvent], from slot: Slot) {
        guard let from = slot.reference else { return }
        for event in events { deliver(event, from) }
        container.screens?.notifyParents(of: events, from: from)
    }

    /// Delivers events that a component reported without a command.
    func deliverUnasked(_ events: [ComponentEvent], from slot: Slot) {
        if slot.kind == .filters {
            container.screens?.selected(events, by: slot)
        } else {
            callDelegates(with: events, from: slot)
        }
        container.screens?.changed()
    }

    /// Delivers an event to the container's own delegate, and not to those of containers that have it as a part.
    func deliver(_ event: ComponentEvent, _ from: ComponentReference) {
        updateScreens(event)
        domain.notes.crash.during(container.delegates.crashText(in: nil)) { report(event, from) }
    }

    private func report(_ event: ComponentEvent, _ from: ComponentReference) {
        switch event {
        case .contents(.replaceAll): container.slot(from.name).map(container.fillings.refill)
        case .contents(let change):
            container.delegate.contents(from, didChange: change)
            container.slot(from.name)?.asked?.follow(change)
        case .didSelect, .didDeselect, .didClear: break
        case .tally(let subject, let tally):
            container.delegate.votes(from, didChange: tally, of: subject)
        case .didPost(let comment): container.delegate.comments(from, didPost: comment)
        case .didEdit(let comment): container.delegate.comments(from, didEdit: comment)
        case .didRemove(let comment): container.delegate.comments(from, didRemove: comment)
        case .commentCount(let subject, let count):
            container.delegate.comments(from, didChange: count, of: subject)
        @unknown default:
            domain.logger.error(
                "unknown event kind: the plugin may use a newer AtriumKit",
                metadata: ["container": "\(container.name)", "component": "\(from.name)"])
        }
    }

    /// Calls the delegate with items for a new list.
    func callDelegate(_ change: ContentChange, from slot: Slot) {
        guard let from = slot.reference else { return }
        domain.notes.crash.during(container.delegates.crashText(in: nil)) {
            container.delegate.contents(from, didChange: change)
        }
    }

    /// Updates the screens that are focused on an event's subject.
    private func updateScreens(_ event: ComponentEvent) {
        switch event {
        case .tally(let subject, _), .commentCount(let subject, _):
            container.screens?.subjectChanged(subject)
        case .didPost(let comment), .didEdit(let comment), .didRemove(let comment):
            container.screens?.subjectChanged(comment.subject)
        default: break
        }
    }
}

extension ComponentEvent {
    fileprivate var isTally: Bool { if case .tally = self { true } else { false } }
}

// MARK: - The delegate's side

/// A delegate's access to its container: the other half of the default wiring.
///
/// A delegate may keep it longer than the container exists; then it does nothing.
final class DelegateHandle: ContainerHandle {
    let name: String
    private weak var container: Container?

    init(_ container: Container) {
        name = container.name
        self.container = container
    }

    func choices(of screen: String) -> ScreenChoices? {
        container?.screens?.choices(of: screen)
    }

    func change(_ screen: String, _ edit: @escaping (inout ScreenChoices) -> Void) {
        container?.screens?.change(screen, edit)
    }

    func message(_ text: String, on screen: String) {
        container?.screens?.message(text, on: screen)
    }

    func lead(_ screen: String, to container: String, item: String?) {
        self.container?.screens?.navigate(screen, to: container, item: item)
    }

    func updateList(of component: ComponentReference, with change: ContentChange) {
        guard let container, let slot = container.slot(component.name), let list = slot.list else {
            return
        }
        let filling = container.fillings[slot.name]
        guard filling?.collect(change) != true else { return }
        let revision = container.domain.commits.sequence
        defer {
            filling?.follow(change, revision: revision)
            list.growOrders(in: container.domain)
            if container.definition.fields.contains(where: \.details) {
                container.screens?.itemsChanged(change.items.lazy.map(\.id))
            }
        }
        switch change {
        case .insert(let items), .update(let items): list.put(items, revision: revision)
        case .remove(let ids): list.remove(ids)
        case .replaceAll: container.fillings.refill(slot)
        @unknown default:
            container.domain.logger.error(
                "unknown kind of list change: the plugin may use a newer AtriumKit",
                metadata: ["container": "\(name)", "component": "\(component.name)"])
        }
    }

    func updateTally(_ tally: Tally, of subject: Subject, from component: ComponentReference) {
        guard let container, let slot = container.slot(component.name) else { return }
        container.derived.set(tally, of: subject, from: slot)
    }

    func updateCommentCount(
        _ count: Int, of subject: Subject, from component: ComponentReference
    ) {
        guard let container, let slot = container.slot(component.name) else { return }
        container.derived.set(count, of: subject, from: slot)
    }

    func publish(_ name: String, _ payload: [String: Value]) {
        guard let container else { return }
        let topic = "\(self.name).\(name)"
        if let problem = Topic.problem(in: topic) {
            container.domain.logger.warning(
                "the delegate's notification is dropped",
                metadata: [
                    "container": "\(self.name)", "topic": "\(topic)", "reason": "\(problem)",
                ])
            return
        }
        container.post(name, payload.jsonBytes, restricted: nil)
        if name == "reload" { reload(nil) }
    }

    func reload(_ component: String?) {
        guard let container else { return }
        do throws(HostError) {
            try container.contents.reload(component)
        } catch {
            container.domain.logger.warning(
                "a delegate asked to reload an unavailable component",
                metadata: ["container": "\(name)", "reason": "\(error.sentence)"])
        }
    }
}
