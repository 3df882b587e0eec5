import AtriumKit
import Index

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
