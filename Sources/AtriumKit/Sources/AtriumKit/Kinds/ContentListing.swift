/// An item: an id, its fields, and perhaps a parent.
@frozen
public struct Item: Sendable, Hashable, Codable {
    /// 1 to 200 bytes of UTF-8 in NFC without control characters.
    public var id: String
    /// The fields' values by name, as the container's definition declares them.
    public var fields: [String: Value]
    /// The id of the item that it lies under; nil for a root.
    public var parent: String?

    /// An item.
    public init(id: String, fields: [String: Value], parent: String? = nil) {
        self.id = id
        self.fields = fields
        self.parent = parent
    }

    /// The item that a record holds: `{"fields": {…}, "parent": …}` under the item's id; nil when
    /// the record is malformed.
    public init?(key: String, value: Value) {
        guard case .object(let object) = value else { return nil }
        var (fields, parent): ([String: Value]?, String?)
        if object.count > 2 {
            (fields, parent) = (object["fields"]?.object, object["parent"]?.text)
        } else {
            // Two names are compared sooner than hashed.
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

/// What became of a list's items.
public enum ContentChange: Sendable, Hashable, Codable {
    /// New items.
    case insert([Item])
    /// Items that were there, as they are now.
    case update([Item])
    /// Items that are gone, by id.
    case remove([String])
    /// All items are other ones.
    ///
    /// The host then asks the source for its ``ContentListing/items``, piece by piece. A container's delegate is
    /// then sent all there are as ``insert(_:)``, in pieces; they are shown together, once it received the
    /// last.
    case replaceAll
}

/// What a source answers to items that are to be added or replaced.
public struct ContentDecision: Sendable, Hashable {
    /// The records that change; none when nothing does.
    public var changes: [Change]
    /// Ids that were not there before.
    public var inserted: [String]
    /// Ids that were there with other content.
    public var updated: [String]
    /// How many were there just so.
    public var unchanged: Int

    /// A decision; by default, to change nothing.
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
/// It maps records to items, or reads items from elsewhere, and reports what became of them. It
/// neither filters nor sorts: the list is the container's.
public protocol ContentListing: Component {
    /// Notified of changes; set by the host before any call, nil while records are restored.
    var delegate: (any ContentListingDelegate)? { get set }

    /// The type of ``items``: an array, or any other sequence.
    associatedtype Items: Sequence<Item>

    /// All items, in any order: asked for after a restore, and after it reported ``ContentChange/replaceAll``.
    ///
    /// The host goes through them a few at a time, and calls the component in between: what it goes through must
    /// stay as it was when asked for. Arrays, dictionaries and what is made of these lazily do; of many items let it
    /// be lazy, so that nothing is done for all of them at once.
    var items: Items { get }

    /// Whether it is yet to find out what items there are: one that reads them from elsewhere, and
    /// does so in the background.
    ///
    /// Asked at the end of a restore. While it is so, its list is `loading`: nobody is shown an empty one,
    /// and screens keep their places. The next change that it reports to its delegate ends that.
    var isLoading: Bool { get }

    /// Why it takes no items; nil when it does.
    var readOnlyReason: String? { get }

    /// Decides on items to add or replace: all of them or none. The host has checked ids and
    /// fields against the container's definition. The changes are of these items alone.
    func put(_ items: [Item], _ context: CommandContext) throws(Refusal) -> ContentDecision

    /// Decides on items to remove; ids that are not there are left out of the changes, which are of
    /// these items alone.
    func remove(_ ids: [String], _ context: CommandContext) throws(Refusal) -> [Change]

    /// What it knows of an item beyond the listed fields; nil: nothing.
    ///
    /// Asked when somebody reads the item, and, where the container has fields with `details: true`, while a screen is
    /// focused on it. It answers at once: what takes time it finds out in the background, keeps, and then notifies its
    /// delegate ``ContentChange/update(_:)`` with the item, changed or not; then it is asked again.
    func details(of id: String) -> [String: Value]?
}

extension ContentListing {
    /// Knows its items.
    public var isLoading: Bool { false }
    /// Takes items.
    public var readOnlyReason: String? { nil }
    /// Knows nothing more.
    public func details(of id: String) -> [String: Value]? { nil }
}

/// A source whose items are its records just as they stand: every record is an item, and there is
/// no other.
///
/// A host that has read the records may then hand them over at once, in the form in which it keeps
/// them for its own list, where it would else call ``Component/apply(_:)`` for each: a million items
/// are there at once, and in memory once. It may just as well call `apply` for each.
public protocol RecordListing: ContentListing {
    /// Takes over all records, instead of `apply` for each; called at most once, before any other
    /// call.
    ///
    /// What follows is as if they had been applied: ``ContentListing/items`` are theirs, and later
    /// changes put and remove some of them.
    func restore(_ items: any RestoredItems)
}

/// Items as the store had them at the start, kept by the host; they never change.
public protocol RestoredItems: Sendable {
    /// How many there are.
    var count: Int { get }

    /// Whether there is an item with this id.
    func contains(_ id: String) -> Bool

    /// The item with this id, made anew at each call; nil when there is none.
    func item(_ id: String) -> Item?

    /// The item at a place from 0 in the order of the ids' bytes, made anew at each call; nil when it can't be read.
    func item(at place: Int) -> Item?
}

/// What a ``ContentListing`` notifies of changes.
public protocol ContentListingDelegate: AnyObject {
    /// The items changed.
    func contentListing(_ source: any ContentListing, didChange change: ContentChange)
}
