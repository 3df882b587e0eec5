import AtriumKit
import Index

// What slots need of their container.
extension Container: SlotOwner {
    // MARK: When requests are sent

    var holdsCommands: Bool { gates.holdCommands }

    func isGated(_ component: String) -> Bool { gates.isClosed(component) }

    func mayPassGate(of component: String, _ request: Request) -> Bool {
        gates.mayPass(component, request)
    }

    func isQuiet(_ component: String) -> Bool { lane.isQuiet(component) }

    func oldestOperation(of component: String) -> UInt64? { lane.oldest(of: component) }

    func runBarriers() { gates.runReady() }

    // MARK: Changes of the component

    func startsChanged() { loading.endIfDone() }

    /// Updates what depends on the components, their order or their state.
    func structureChanged() {
        fillings.removeUnwanted()
        screens?.structureChanged()
    }

    func attach(_ slot: Slot, then done: @escaping () -> Void) {
        Attachment(of: slot, in: self, then: done).run()
    }

    func deliverUnasked(_ events: [ComponentEvent], from slot: Slot) {
        delivery.deliverUnasked(events, from: slot)
    }

    /// Posts that items of a list have changed other than by a call; the list has the new ones.
    func itemsChanged(in slot: Slot) {
        if let contents = slot.own.contents, !contents.isKnown {
            contents.markKnown()
            // Screens that were opened when no items were known look for theirs again.
            structureChanged()
        }
        slot.source.endAwaitingItems()
        post(
            "items.changed",
            Payload.object {
                $0.member("component", slot.name)
                $0.member("items", slot.list?.count ?? 0)
            })
    }

    // MARK: Lists

    func show(_ change: ContentChange, from slot: Slot) {
        delivery.callDelegate(change, from: slot)
        screens?.changed()
    }

    func isInUse(_ item: String) -> Bool { screens?.isInUse(item) ?? false }

    func itemsRemoved(_ items: Set<String>) { screens?.itemsRemoved(items) }

    func listsChanged() { screens?.changed() }

    func fillDerived(
        _ list: ContentIndex, while isWanted: @escaping () -> Bool, then done: @escaping () -> Void
    ) {
        derived.fill(list, while: isWanted, then: done)
    }

    func drop(_ list: ContentIndex) { derived.endFilling(list) }
}
