public import AtriumKit

/// Items that clients put and remove, kept in the store: `org.atrium.catalog`.
///
/// An item may lie under another. Its parent may come later, and may be removed before it: it then
/// waits, with its own id, for the parent to return.
public final class Catalog: ContentListing {
    /// Who is told of new, changed and removed items.
    public weak var delegate: (any ContentListingDelegate)?

    let context: ComponentContext
    var itemsByID: [String: Item] = [:]

    /// Makes an empty catalog; it has no settings.
    public init(context: ComponentContext) {
        self.context = context
    }

    /// All items, in no order.
    public var items: [Item] { Array(itemsByID.values) }

    /// Puts the record's item in its place, or takes it out.
    public func apply(_ change: Change) {
        switch change {
        case .put(let key, let value):
            guard let item = Item(key: key, value: value) else {
                context.logger.warning(
                    "The record '\(key)' is no item (an object with 'fields' is); it is skipped.")
                return take(key)
            }
            let isNew = itemsByID.updateValue(item, forKey: key) == nil
            delegate?.contentListing(self, didChange: isNew ? .insert([item]) : .update([item]))
        case .removed(let key):
            take(key)
        }
    }

    private func take(_ id: String) {
        guard itemsByID.removeValue(forKey: id) != nil else { return }
        delegate?.contentListing(self, didChange: .remove([id]))
    }
}

/// Exports the catalog.
@c(atrium_plugin_org_atrium_catalog)
public func catalogPlugin() -> UnsafeMutableRawPointer { exportPlugin(Catalog.self) }
