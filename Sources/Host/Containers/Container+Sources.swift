import AtriumKit
import Index
import JSONCodec

// Components whose items come from elsewhere: a file, a folder, a service.
extension Container {
    /// Has components look at their sources again, each at most once a second: those that are asked more often
    /// do so at the end of it.
    ///
    /// - Parameter component: its name; nil: all that are there.
    /// - Throws: `componentNotFound`, or `componentUnavailable` for one that is not there now.
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

    /// Items of a list changed without anybody's call, and are in it.
    func itemsChanged(in slot: Slot) {
        if let contents = slot.own.contents, !contents.isKnown {
            contents.know()
            // Screens that stand where nothing was known look again.
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
