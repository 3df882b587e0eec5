public import AtriumKit

/// Items that clients put and remove, kept in the store: `org.atrium.catalog`.
///
/// An item may lie under another. Its parent may come later, and may be removed before it: it then
/// waits, with its own id, for the parent to return.
public final class Catalog: ContentListing {
    /// Who is told of new, changed and removed items.
    public weak var delegate: (any ContentListingDelegate)?

    /// All items, in the order in which they came; one that is removed leaves its place to the last.
    ///
    /// After a restore that is the order of the records: the host, which has read the same ones,
    /// then knows each item at a glance.
    public private(set) var items: [Item] = []

    private let context: ComponentContext
    private var places: [String: Int] = [:]

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
            guard let place = places[key] else {
                places[key] = items.count
                items.append(item)
                delegate?.contentListing(self, didChange: .insert([item]))
                return
            }
            items[place] = item
            delegate?.contentListing(self, didChange: .update([item]))
        case .removed(let key):
            take(key)
        }
    }

    /// The item with this id.
    func item(_ id: String) -> Item? { places[id].map { items[$0] } }

    private func take(_ id: String) {
        guard let place = places.removeValue(forKey: id), let last = items.popLast() else { return }
        if place < items.count {
            items[place] = last
            places[last.id] = place
        }
        delegate?.contentListing(self, didChange: .remove([id]))
    }
}

/// Exports the catalog.
@c(atrium_plugin_org_atrium_catalog)
public func catalogPlugin() -> UnsafeMutableRawPointer { exportPlugin(Catalog.self) }
