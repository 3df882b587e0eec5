import AtriumKit
import JSONCodec
import Logging

// What a container's delegate may ask of it: the other half of the default wiring.
extension Container: ContainerHandle {
    func show(_ selection: Selection, on screen: String) {
        guard let screen = self.screen(screen) else { return }
        if screen.chosen != nil {
            // Asked for by what the user does now.
            screen.chosen = selection
        } else {
            change(screen) {
                $0.view.selection = selection
            } then: { _ in
            }
        }
    }

    func enter(_ item: String, on screen: String) {
        if let screen = self.screen(screen) { enter(screen, item) { _ in } }
    }

    func back(on screen: String) {
        if let screen = self.screen(screen) { back(screen) { _ in } }
    }

    func updateList(of component: ComponentReference, with change: ContentChange) {
        guard let slot = slot(component.name), let list = slot.list else { return }
        let revision = domain.sequence
        defer { growOrders(of: list) }
        switch change {
        case .insert(let items), .update(let items): list.put(items, revision: revision)
        case .remove(let ids): list.remove(ids)
        case .replaceAll(let items):
            // One that was filled while the component was restored has them already.
            guard !takeRestoredList(of: slot) else { return }
            list.removeAll()
            list.put(items, revision: revision)
        @unknown default:
            domain.logger.error(
                "a list's change is of an unknown kind: is the kit newer?",
                metadata: ["container": "\(name)", "component": "\(component.name)"])
        }
    }

    func updateTally(_ tally: Tally, of subject: Subject, from component: ComponentReference) {
        guard let slot = slot(component.name) else { return }
        slot.tallies[subject] = tally.count == 0 ? nil : tally
        guard slot.name == wired.votes, let item = subject.item else { return }
        for list in derivedLists { list.setTally(tally, for: item) }
    }

    func updateCommentCount(
        _ count: Int, of subject: Subject, from component: ComponentReference
    ) {
        guard let slot = slot(component.name) else { return }
        slot.counts[subject] = count == 0 ? nil : count
        guard slot.name == wired.comments, let item = subject.item else { return }
        for list in derivedLists { list.setCommentCount(count, for: item) }
    }

    func publish(_ name: String, _ payload: [String: Value]) {
        let topic = "\(self.name).\(name)"
        if let problem = Topic.problem(in: topic) {
            domain.logger.warning(
                "the delegate's notification is dropped",
                metadata: [
                    "container": "\(self.name)", "topic": "\(topic)", "reason": "\(problem)",
                ])
            return
        }
        post(name, payload.jsonBytes)
    }
}

// MARK: Delivering events

extension Container {
    /// Tells the delegate what a component told its own.
    func deliver(_ events: [ComponentEvent], from slot: Slot) {
        guard let from = slot.reference else { return }
        for event in events { deliver(event, from) }
    }

    /// Delivers what a component told outside of any command.
    func deliverUnasked(_ events: [ComponentEvent], from slot: Slot) {
        deliver(events, from: slot)
        screensChanged()
    }

    private func deliver(_ event: ComponentEvent, _ from: ComponentReference) {
        noteForScreens(event)
        switch event {
        case .contents(let change): delegate.contents(from, didChange: change)
        case .didSelect(let filter, let section, let selection, let screen):
            delegate(on: self.screen(screen)).filters(
                from, didSelect: filter, in: section, now: selection, on: screen)
        case .didDeselect(let filter, let section, let selection, let screen):
            delegate(on: self.screen(screen)).filters(
                from, didDeselect: filter, in: section, now: selection, on: screen)
        case .didClear(let screen):
            delegate(on: self.screen(screen)).filters(from, didClearOn: screen)
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

// MARK: Taking components in

extension Container {
    /// Makes a restored component part of the container, in slices where it told much.
    ///
    /// The order is the component's life: `willAttach`, its state delivered, `didAttach`; then what
    /// waited for it is sent.
    func takeIn(_ slot: Slot, then done: @escaping () -> Void) {
        guard case .prepared(let restored) = slot.state, let port = slot.port else {
            // Lost between its restore and now.
            slot.restartUntaken()
            return done()
        }
        rewire()
        let attempt = slot.start
        port.pass(.willAttach)
        deliverItems(of: slot, restored)
        let delivery = StateDelivery(restored.state.events, to: slot)
        domain.inSlices { [self] in
            guard slot.start == attempt, let events = delivery.next() else { return false }
            deliver(events, from: slot)
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
            slot.state = .attached
            slot.isShown = true
            slot.noteStarted()
            deliver(slot.early.takeAll(), from: slot)
            if slot.kind == .votes { forgetBallots() }
            structureChanged()
            startsChanged()
            done()
            pump()
        }
    }

    /// Tells of all items of a contents component: in one change, which takes the filled list over.
    private func deliverItems(of slot: Slot, _ restored: Restored) {
        guard restored.items == nil || type(of: delegate) != ContainerDelegate.self else {
            // The default wiring looks at the list alone; who replaced it is told of all items.
            takeRestoredList(of: slot)
            return
        }
        guard let items = restored.items?.all ?? restored.state.items else { return }
        deliver([.contents(.replaceAll(items))], from: slot)
    }

    /// Makes the list that a restore has filled the component's; false when there is none.
    @discardableResult
    private func takeRestoredList(of slot: Slot) -> Bool {
        guard let restored = slot.restoredList else { return false }
        slot.list = restored
        slot.restoredList = nil
        filling[ObjectIdentifier(restored)] = nil
        return true
    }

    /// Lets the screens that are focused on what an event is about follow.
    private func noteForScreens(_ event: ComponentEvent) {
        switch event {
        case .tally(let subject, _), .commentCount(let subject, _): subjectChanged(subject)
        case .didPost(let comment), .didEdit(let comment), .didRemove(let comment):
            subjectChanged(comment.subject)
        default: break
        }
    }
}
