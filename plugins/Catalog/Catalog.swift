public import AtriumKit

/// Items that clients put and remove, kept in the store: `org.atrium.catalog`.
///
/// An item may lie under another. Its parent may come later, and may be removed before it: it then
/// waits, with its own id, for the parent to return.
public final class Catalog: RecordListing {
    /// Who is notified of new, changed and removed items.
    public weak var delegate: (any ContentListingDelegate)?

    /// All items: those that the host restored at once, then those that came later, in their order;
    /// one that is removed leaves its place to the last.
    ///
    /// After a restore one by one that is the order of the records: the host, which has read the
    /// same ones, then knows each item at a glance.
    public var items: some Sequence<Item> {
        let (restored, replaced) = (restored, replaced)
        let kept = (0..<(restored?.count ?? 0)).lazy.compactMap { restored?.item(at: $0) }
            .filter { replaced[$0.id] == nil }
        return [AnySequence(kept), AnySequence(own)].joined()
    }

    /// The host's items as they were at the start, and which of them are so no longer.
    private var restored: (any RestoredItems)?
    private var replaced = SplitDictionary<String, Bool>()
    /// All other items.
    private var own: [Item] = []
    private let context: ComponentContext
    /// Where each stands in ``own``.
    private var places = SplitDictionary<String, Int>()

    /// Makes an empty catalog; it has no settings.
    public init(context: ComponentContext) {
        self.context = context
    }

    /// Puts the record's item in its place, or takes it out.
    public func apply(_ change: Change) {
        switch change {
        case .put(let key, let value):
            guard let item = Item(key: key, value: value) else {
                context.logger.warning(
                    "The record '\(key)' is no item (an object with 'fields' is); it is skipped.")
                return take(key)
            }
            let isNew: Bool
            if let place = places.updateValue(own.count, forKey: key) {
                places[key] = place
                own[place] = item
                isNew = false
            } else {
                own.append(item)
                isNew = isNewHere(key)
            }
            delegate?.contentListing(self, didChange: isNew ? .insert([item]) : .update([item]))
        case .removed(let key):
            take(key)
        }
    }

    /// Takes over all records: they stay where the host has them.
    public func restore(_ items: any RestoredItems) { restored = items }

    func item(_ id: String) -> Item? {
        places[id].map { own[$0] } ?? (replaced[id] == nil ? restored?.item(id) : nil)
    }

    /// Whether there is no item with this id; if it is one of those restored, it is so no longer.
    private func isNew(_ id: String) -> Bool { places[id] == nil && isNewHere(id) }

    /// The same of an id that is none of ``own``.
    private func isNewHere(_ id: String) -> Bool {
        guard let restored, restored.contains(id) else { return true }
        defer { replaced[id] = true }
        return replaced[id] != nil
    }

    private func take(_ id: String) {
        guard !isNew(id) else { return }
        if let place = places.removeValue(forKey: id), let last = own.popLast(),
            place < own.count
        {
            own[place] = last
            places[last.id] = place
        }
        delegate?.contentListing(self, didChange: .remove([id]))
    }
}

/// Exports the catalog.
@c(atrium_plugin_org_atrium_catalog)
public func catalogPlugin() -> UnsafeMutableRawPointer { exportPlugin(Catalog.self) }
