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
