import AtriumKit
import Index
import JSONCodec

// Components whose items come from elsewhere: a file, a folder, a service.
extension Container {
    /// Makes components reload their sources, each at most once a second; a reload that comes earlier is delayed.
    ///
    /// - Parameter component: the component's name; nil: all that are attached.
    /// - Throws: `componentNotFound`, or `componentUnavailable` if the component is not attached.
    public func reload(_ component: String?) throws(HostError) {
        guard let component else {
            for slot in slots { slot.reload() }
            return
        }
        guard let slot = slot(component) else {
            throw .componentNotFound(container: name, component: component)
        }
        guard slot.isAttached else { throw slot.absence }
        slot.reload()
    }

    /// Posts that items of a list have changed other than by a call; the list has the new ones.
    func itemsChanged(in slot: Slot) {
        if let contents = slot.own.contents, !contents.isKnown {
            contents.know()
            // Screens that were opened when no items were known look for theirs again.
            structureChanged()
        }
        slot.endAwaitingItems()
        post(
            "items.changed",
            Payload.object {
                $0.member("component", slot.name)
                $0.member("items", slot.list?.count ?? 0)
            })
    }
}

// Lists of sources that are asked.
extension Container {
    func show(_ change: ContentChange, from slot: Slot) {
        pass(change, from: slot)
        screens?.changed()
    }

    func isInUse(_ item: String) -> Bool { screens?.holds(item) ?? false }

    func areGone(_ items: Set<String>) { screens?.areGone(items) }

    func listsChanged() { screens?.changed() }

    /// Fills the derived fields of a source that is asked; such a source never reports its items, so no one waits for
    /// that.
    func beginAsking(_ slot: Slot, then done: @escaping () -> Void) {
        guard let contents = slot.own.contents, !contents.isKnown else { return done() }
        contents.know()
        let list = contents.list
        let filled = { [self] in
            forget(list)
            done()
        }
        // Never cancelled, because others wait for its end.
        fillDerived(list, while: { true }, then: filled)
    }
}
