import AtriumKit
import Logging

extension Container {
    /// The delivery of what components report.
    var delivery: EventDelivery { EventDelivery(container: self) }
}

/// The delivery of components' events to the delegate and to screens.
///
/// The delegate's default puts them into the lists: ``DelegateHandle``. An event about a selection is for the delegate
/// of the scope that the screen shows.
struct EventDelivery {
    let container: Container

    /// Delivers a component's events to the delegate, and to those of containers that have this one as a part.
    ///
    /// - Parameters:
    ///   - events: the events.
    ///   - slot: the component's slot.
    ///   - ticket: the domain's number when the component decided; nil: the present one. Events that the component
    ///     reported by itself before this are overtaken, later ones are not.
    func deliver(_ events: [ComponentEvent], from slot: Slot, reportedAt ticket: UInt64? = nil) {
        slot.reports.recordCommitted(events, at: ticket ?? container.domain.lastTicket)
        callDelegates(with: events, from: slot)
    }

    private func callDelegates(with events: [ComponentEvent], from slot: Slot) {
        guard let from = slot.reference else { return }
        for event in events { deliver(event, from) }
        container.screens?.notifyParents(of: events, from: from)
    }

    /// Delivers events that a component reported without a command.
    func deliverUnasked(_ events: [ComponentEvent], from slot: Slot) {
        let deferrals = events.map { container.screens?.byID.deferMessages(for: $0) }
        callDelegates(with: events, from: slot)
        for (event, deferral) in zip(events, deferrals) {
            container.screens?.byID.showUnasked(event, ending: deferral)
        }
        container.screens?.changed()
    }

    /// Delivers an event to the container's own delegate, and not to those of containers that have it as a part.
    func deliver(_ event: ComponentEvent, _ from: ComponentReference) {
        updateScreens(event)
        // A scope's delegate is called about selections on screens of its scope.
        let scope: String? =
            switch event {
            case .didSelect(_, _, _, let screen), .didDeselect(_, _, _, let screen),
                .didClear(let screen):
                container.screens?.byID.scope(on: screen)
            default: nil
            }
        container.domain.notes.crash.during(container.delegates.crashText(in: scope)) {
            report(event, from)
        }
    }

    private func report(_ event: ComponentEvent, _ from: ComponentReference) {
        switch event {
        case .contents(.replaceAll): container.slot(from.name).map(container.fillings.refill)
        case .contents(let change):
            container.delegate.contents(from, didChange: change)
            container.slot(from.name)?.asked?.follow(change)
        case .didSelect(let filter, let section, let selection, let screen):
            listener(on: screen)?.filters(
                from, didSelect: filter, in: section, now: selection, on: screen)
        case .didDeselect(let filter, let section, let selection, let screen):
            listener(on: screen)?.filters(
                from, didDeselect: filter, in: section, now: selection, on: screen)
        case .didClear(let screen):
            listener(on: screen)?.filters(from, didClearOn: screen)
        case .tally(let subject, let tally):
            container.delegate.votes(from, didChange: tally, of: subject)
        case .didPost(let comment): container.delegate.comments(from, didPost: comment)
        case .didEdit(let comment): container.delegate.comments(from, didEdit: comment)
        case .didRemove(let comment): container.delegate.comments(from, didRemove: comment)
        case .commentCount(let subject, let count):
            container.delegate.comments(from, didChange: count, of: subject)
        @unknown default:
            container.domain.logger.error(
                "unknown event kind: the plugin may use a newer AtriumKit",
                metadata: ["container": "\(container.name)", "component": "\(from.name)"])
        }
    }

    /// The delegate for what happens on a screen; nil while it can't be made.
    private func listener(on screen: String) -> ContainerDelegate? {
        switch container.screens?.byID.delegate(on: screen) {
        case .success(let found): found
        case .failure: nil
        case nil: container.delegate
        }
    }

    /// Calls the delegate with items for a new list.
    func callDelegate(_ change: ContentChange, from slot: Slot) {
        guard let from = slot.reference else { return }
        container.domain.notes.crash.during(container.delegates.crashText(in: nil)) {
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
