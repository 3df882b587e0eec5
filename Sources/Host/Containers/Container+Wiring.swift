import AtriumKit
import Index
import Logging

// MARK: Delivering events

extension Container {
    /// Passes what a component reported to the delegate, and to the delegates of containers that have this one as a part.
    ///
    /// - Parameters:
    ///   - events: what it reported.
    ///   - slot: the component's.
    ///   - ticket: the domain's number at the time; what it reported by itself later has a greater one; nil: the present one.
    func deliver(_ events: [ComponentEvent], from slot: Slot, toldAt ticket: UInt64? = nil) {
        slot.told.overtake(events, at: ticket ?? domain.lastTicket)
        pass(events, from: slot)
    }

    private func pass(_ events: [ComponentEvent], from slot: Slot) {
        guard let from = slot.reference else { return }
        for event in events { deliver(event, from) }
        screens?.tellParents(of: events, from: from)
    }

    /// Delivers some of what a component told outside of any command.
    func deliverUnasked(_ events: [ComponentEvent], from slot: Slot) {
        for event in events { screens?.holdNotice(for: event) }
        pass(events, from: slot)
        for event in events { screens?.showUnasked(event) }
        screens?.changed()
    }

    private func deliver(_ event: ComponentEvent, _ from: ComponentReference) {
        noteForScreens(event)
        domain.notes.crash.during(delegates.crashText(in: nil)) { tell(event, from) }
    }

    private func tell(_ event: ComponentEvent, _ from: ComponentReference) {
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
    /// Who is called for what happens on a screen; nil while it can't be made.
    private func listener(on screen: String) -> ContainerDelegate? {
        switch screens?.delegate(on: screen) {
        case .success(let found): found
        case .failure: nil
        case nil: delegate
        }
    }
}

// MARK: Taking components in

extension Container {
    /// Makes a loaded component part of the container, in slices where it told much.
    ///
    /// The order is the component's life: `willAttach`, its state delivered, `didAttach`; then what
    /// waited for it is sent.
    func takeIn(_ slot: Slot, then done: @escaping () -> Void) {
        guard case .prepared(let loaded) = slot.state, let port = slot.port else {
            // Lost between its load and now.
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

    /// Tells of all tallies and counts of a component, and makes it part of the container.
    private func deliverState(
        of slot: Slot, _ loaded: Loaded, _ attempt: Int, _ port: any ComponentPort,
        then done: @escaping () -> Void
    ) {
        let delivery = StateDelivery(loaded.state.events, to: slot)
        domain.inSlices { [self] in
            guard slot.start == attempt, let events = delivery.next() else { return false }
            // Nothing happened: those whose part this is are not told.
            if let from = slot.reference { for event in events { deliver(event, from) } }
            return true
        } then: { [self] in
            guard slot.start == attempt, slot.port === port else {
                // Lost meanwhile, and not let go: nobody else starts it again.
                if case .prepared = slot.state {
                    slot.restartUntaken()
                }
                return done()
            }
            port.pass(.didAttach)
            slot.attached()
            loaded.state.letGo()
            slot.noteStarted()
            slot.tell(slot.progress.takeEvents())
            slot.awaitItems()
            screens?.countAudience()
            if slot.kind == .votes { screens?.forgetBallots() }
            structureChanged()
            startsChanged()
            done()
            pump()
        }
    }

    /// Tells of all items of a contents component, in pieces; the list that is filled with them already is taken
    /// over where they are passed on as they are.
    private func deliverItems(
        of slot: Slot, _ loaded: Loaded, then done: @escaping () -> Void
    ) {
        guard slot.own.contents == nil || loaded.items != nil || loaded.state.items != nil else {
            // A source that is loading, or is asked: what is shown of it stays.
            return slot.asks ? beginAsking(slot, then: done) : done()
        }
        guard slot.kind == .contents, !delegates.isDefault else {
            // The default wiring looks at the list alone; who replaced it is told of all items.
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

    /// Makes the list that a load has filled the component's; false when there is none.
    @discardableResult
    func takeLoadedList(of slot: Slot) -> Bool {
        guard let loaded = slot.own.contents?.takeLoaded() else { return false }
        forget(loaded)
        return true
    }

    /// Lets the list go that a load has filled, since the delegate passed other items on.
    func dropLoadedList(of slot: Slot) {
        if let list = slot.own.contents?.dropLoaded() { forget(list) }
    }

    /// Tells the delegate of items that go into a new list.
    func pass(_ change: ContentChange, from slot: Slot) {
        if let from = slot.reference { delegate.contents(from, didChange: change) }
    }

    /// Lets the screens that are focused on what an event is about follow.
    private func noteForScreens(_ event: ComponentEvent) {
        switch event {
        case .tally(let subject, _), .commentCount(let subject, _): screens?.subjectChanged(subject)
        case .didPost(let comment), .didEdit(let comment), .didRemove(let comment):
            screens?.subjectChanged(comment.subject)
        default: break
        }
    }
}
