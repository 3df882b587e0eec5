import AtriumKit
import Index
import Logging

// MARK: Delivering events

extension Container {
    /// Delivers a component's events to the delegate, and to those of containers that have this one as a part.
    ///
    /// - Parameters:
    ///   - events: the events.
    ///   - slot: the component's slot.
    ///   - ticket: the domain's number when the component decided; nil: the present one. Events that the component
    ///     reported by itself before this are overtaken, later ones are not.
    func deliver(_ events: [ComponentEvent], from slot: Slot, reportedAt ticket: UInt64? = nil) {
        slot.reported.overtake(events, at: ticket ?? domain.lastTicket)
        pass(events, from: slot)
    }

    private func pass(_ events: [ComponentEvent], from slot: Slot) {
        guard let from = slot.reference else { return }
        for event in events { deliver(event, from) }
        screens?.notifyParents(of: events, from: from)
    }

    /// Delivers events that a component reported without a command.
    func deliverUnasked(_ events: [ComponentEvent], from slot: Slot) {
        for event in events { screens?.holdNotice(for: event) }
        pass(events, from: slot)
        for event in events { screens?.showUnasked(event) }
        screens?.changed()
    }

    private func deliver(_ event: ComponentEvent, _ from: ComponentReference) {
        noteForScreens(event)
        // A scope's delegate is called about selections on screens of its scope.
        let scope: String? =
            switch event {
            case .didSelect(_, _, _, let screen), .didDeselect(_, _, _, let screen),
                .didClear(let screen):
                screens?.scope(on: screen)
            default: nil
            }
        domain.notes.crash.during(delegates.crashText(in: scope)) { report(event, from) }
    }

    private func report(_ event: ComponentEvent, _ from: ComponentReference) {
        switch event {
        case .contents(.replaceAll): slot(from.name).map(refill)
        case .contents(let change):
            delegate.contents(from, didChange: change)
            slot(from.name)?.asked?.follow(change)
        case .didSelect(let filter, let section, let selection, let screen):
            listener(on: screen)?.filters(
                from, didSelect: filter, in: section, now: selection, on: screen)
        case .didDeselect(let filter, let section, let selection, let screen):
            listener(on: screen)?.filters(
                from, didDeselect: filter, in: section, now: selection, on: screen)
        case .didClear(let screen):
            listener(on: screen)?.filters(from, didClearOn: screen)
        case .tally(let subject, let tally):
            delegate.votes(from, didChange: tally, of: subject)
        case .didPost(let comment): delegate.comments(from, didPost: comment)
        case .didEdit(let comment): delegate.comments(from, didEdit: comment)
        case .didRemove(let comment): delegate.comments(from, didRemove: comment)
        case .commentCount(let subject, let count):
            delegate.comments(from, didChange: count, of: subject)
        @unknown default:
            domain.logger.error(
                "an event is of an unknown kind: is the kit newer?",
                metadata: ["container": "\(name)", "component": "\(from.name)"])
        }
    }
}

extension Container {
    /// The delegate for what happens on a screen; nil while it can't be made.
    private func listener(on screen: String) -> ContainerDelegate? {
        switch screens?.delegate(on: screen) {
        case .success(let found): found
        case .failure: nil
        case nil: delegate
        }
    }
}

// MARK: Attaching components

extension Container {
    /// Makes a loaded component part of the container, in slices if its state is large.
    ///
    /// The order: `willAttach`, delivery of its state, `didAttach`; then the requests that wait for it are sent.
    func takeIn(_ slot: Slot, then done: @escaping () -> Void) {
        guard case .prepared(let loaded) = slot.state, let port = slot.port else {
            // The component was lost after its load.
            slot.restartUntaken()
            return done()
        }
        rewire()
        let attempt = slot.start
        port.pass(.willAttach)
        deliverItems(of: slot, loaded) { [self] in
            deliverState(of: slot, loaded, attempt, port, then: done)
        }
    }

    /// Delivers all tallies and counts of a component, and attaches it.
    private func deliverState(
        of slot: Slot, _ loaded: Loaded, _ attempt: Int, _ port: any ComponentPort,
        then done: @escaping () -> Void
    ) {
        let delivery = StateDelivery(loaded.state.events, to: slot)
        domain.inSlices { [self] in
            guard slot.start == attempt, let events = delivery.next() else { return false }
            // Not to the delegates of containers that have this one as a part: nothing has changed.
            if let from = slot.reference { for event in events { deliver(event, from) } }
            return true
        } then: { [self] in
            guard slot.start == attempt, slot.port === port else {
                // It was lost meanwhile, and nothing else restarts it.
                if case .prepared = slot.state {
                    slot.restartUntaken()
                }
                return done()
            }
            port.pass(.didAttach)
            slot.attached()
            loaded.state.letGo()
            slot.noteStarted()
            slot.report(early: slot.progress.takeEvents())
            slot.awaitItems()
            screens?.countAudience()
            if slot.kind == .votes { screens?.forgetBallots() }
            structureChanged()
            startsChanged()
            done()
            pump()
        }
    }

    /// Delivers all items of a contents component, in pieces.
    ///
    /// If the delegate passes all of them on unchanged, the list that the load has filled is used.
    private func deliverItems(
        of slot: Slot, _ loaded: Loaded, then done: @escaping () -> Void
    ) {
        guard slot.own.contents == nil || loaded.items != nil || loaded.state.items != nil else {
            // A source that is loading or is asked: the items that are shown stay.
            return slot.asks ? beginAsking(slot, then: done) : done()
        }
        guard slot.kind == .contents, !delegates.isDefault else {
            // The default wiring uses the list as it is; any other delegate is called with all items.
            slot.own.contents?.know()
            takeLoadedList(of: slot)
            return done()
        }
        let filling = ListFilling(of: slot, in: self)
        let attempt = slot.start
        fillings[slot.name] = filling
        filling.run(loaded.list) {
            if slot.start == attempt { slot.own.contents?.know() }
            done()
        }
    }

    /// Shows the list that a load has filled; false if there is none.
    @discardableResult
    func takeLoadedList(of slot: Slot) -> Bool {
        guard let loaded = slot.own.contents?.takeLoaded() else { return false }
        forget(loaded)
        return true
    }

    /// Drops the list that a load has filled, because the delegate passed other items on.
    func dropLoadedList(of slot: Slot) {
        if let list = slot.own.contents?.dropLoaded() { forget(list) }
    }

    /// Calls the delegate with items for a new list.
    func pass(_ change: ContentChange, from slot: Slot) {
        guard let from = slot.reference else { return }
        domain.notes.crash.during(delegates.crashText(in: nil)) {
            delegate.contents(from, didChange: change)
        }
    }

    /// Updates the screens that are focused on an event's subject.
    private func noteForScreens(_ event: ComponentEvent) {
        switch event {
        case .tally(let subject, _), .commentCount(let subject, _): screens?.subjectChanged(subject)
        case .didPost(let comment), .didEdit(let comment), .didRemove(let comment):
            screens?.subjectChanged(comment.subject)
        default: break
        }
    }
}
