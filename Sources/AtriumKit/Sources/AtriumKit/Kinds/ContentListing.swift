/// An item: an id, its fields, and perhaps a parent.
@frozen
public struct Item: Sendable, Hashable, Codable {
    /// 1 to 200 bytes of UTF-8 in NFC without control characters.
    public var id: String
    /// The fields' values by name, as the container's definition declares them.
    public var fields: [String: Value]
    /// The id of the parent item; nil for a root.
    public var parent: String?

    /// Creates an item.
    public init(id: String, fields: [String: Value], parent: String? = nil) {
        self.id = id
        self.fields = fields
        self.parent = parent
    }

    /// Reads an item from a record: `{"fields": {…}, "parent": …}` under the item's id; nil if the record is malformed.
    public init?(key: String, value: Value) {
        guard case .object(let object) = value else { return nil }
        var (fields, parent): ([String: Value]?, String?)
        if object.count > 2 {
            (fields, parent) = (object["fields"]?.object, object["parent"]?.text)
        } else {
            // Comparing two names is faster than hashing them.
            for (name, member) in object {
                if name == "fields" {
                    fields = member.object
                } else if name == "parent" {
                    parent = member.text
                }
            }
        }
        guard let fields else { return nil }
        self.init(id: key, fields: fields, parent: parent)
    }

    /// The item as a record.
    public var record: Change {
        var object: [String: Value] = ["fields": .object(fields)]
        if let parent { object["parent"] = .text(parent) }
        return .put(key: id, value: .object(object))
    }
}

/// A change of a list's items.
public enum ContentChange: Sendable, Hashable, Codable {
    /// New items.
    case insert([Item])
    /// Existing items, with their new content.
    case update([Item])
    /// Ids of removed items.
    case remove([String])
    /// All items were replaced.
    ///
    /// The host then reads the source's ``ContentListing/items``, piece by piece. A container's delegate then receives
    /// all of them as ``insert(_:)``, in pieces; they are shown together, after it received the last.
    case replaceAll
}

/// A source's decision on items that are to be added or replaced.
public struct ContentDecision: Sendable, Hashable {
    /// The records that change; empty if none does.
    public var changes: [Change]
    /// Ids of the items that did not exist before.
    public var inserted: [String]
    /// Ids of the items that existed with other content.
    public var updated: [String]
    /// The number of items that existed with the same content.
    public var unchanged: Int

    /// Creates a decision; by default, to change nothing.
    public init(
        changes: [Change] = [], inserted: [String] = [], updated: [String] = [],
        unchanged: Int = 0
    ) {
        self.changes = changes
        self.inserted = inserted
        self.updated = updated
        self.unchanged = unchanged
    }
}

/// The kind `contents`: a data source.
///
/// It maps records to items, or reads items from elsewhere, and reports their changes. It neither filters nor sorts:
/// the container keeps the list.
public protocol ContentListing: Component {
    /// Notified of changes; set by the host before any call, nil while records are restored.
    var delegate: (any ContentListingDelegate)? { get set }

    /// The type of ``items``: an array, or any other sequence.
    associatedtype Items: Sequence<Item>

    /// All items, in any order; read after a restore, and after it reported ``ContentChange/replaceAll``.
    ///
    /// The host iterates in pieces and calls the component in between, so the sequence must not change meanwhile
    /// (arrays, dictionaries and lazy maps of them do not). Return a lazy sequence if there are many items.
    var items: Items { get }

    /// Whether it is still reading its items, for a source that reads them from elsewhere in the background.
    ///
    /// Read at the end of a restore. While true, its list is `loading`: screens keep their places, and no empty list is
    /// shown. The next change that it reports to its delegate ends that.
    var isLoading: Bool { get }

    /// The reason why it accepts no items; nil if it accepts them.
    var readOnlyReason: String? { get }

    /// Decides on items to add or replace: all of them or none.
    ///
    /// The host has checked ids and fields against the container's definition. The changes are of these items only.
    func put(_ items: [Item], _ context: CommandContext) throws(Refusal) -> ContentDecision

    /// Decides on items to remove.
    ///
    /// The changes are of these items only; ids that do not exist are left out of them.
    func remove(_ ids: [String], _ context: CommandContext) throws(Refusal) -> [Change]

    /// Returns the values that it knows of an item beyond the listed fields; nil if there are none.
    ///
    /// Called when a client reads the item, and, if the container has fields with `details: true`, while a screen is
    /// focused on it. It must return at once: a source that needs time reads the values in the background, keeps them,
    /// and then notifies its delegate with ``ContentChange/update(_:)`` of the item, changed or not; then it is called
    /// again.
    func details(of id: String) -> [String: Value]?
}

extension ContentListing {
    /// False by default.
    public var isLoading: Bool { false }
    /// Nil by default: it accepts items.
    public var readOnlyReason: String? { nil }
    /// Returns nil.
    public func details(of id: String) -> [String: Value]? { nil }
}

/// A source whose items are exactly its records: every record is an item, and there are no others.
///
/// A host that has read the records may pass them all at once, in the form in which it keeps them for its own list,
/// instead of calling ``Component/apply(_:)`` for each: a million items are restored at once, and are in memory only
/// once. It may also call `apply` for each.
public protocol RecordListing: ContentListing {
    /// Takes over all records, instead of `apply` for each; called at most once, before any other call.
    ///
    /// The result is the same as if they had been applied: ``ContentListing/items`` returns them, and later changes put
    /// and remove some of them.
    func restore(_ items: any RestoredItems)
}

/// Items as the store had them at the start, kept by the host; they do not change.
public protocol RestoredItems: Sendable {
    /// The number of items.
    var count: Int { get }

    /// Whether there is an item with this id.
    func contains(_ id: String) -> Bool

    /// Returns the item with this id, created at each call; nil if there is none.
    func item(_ id: String) -> Item?

    /// Returns the item at an index, from 0, in the byte order of the ids, created at each call; nil if it can't be
    /// read.
    func item(at place: Int) -> Item?
}

/// The delegate that a ``ContentListing`` notifies of changes.
public protocol ContentListingDelegate: AnyObject {
    /// The items changed.
    func contentListing(_ source: any ContentListing, didChange change: ContentChange)
}
