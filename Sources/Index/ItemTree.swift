import AtriumKit

/// The items of an index under one another: each may name a parent, there or not.
///
/// It records the items that were added, removed or moved since the last call of its reader, who can then update only
/// what they concern.
package final class ItemTree {
    /// The maximum number of moved items that are recorded; of more it is not known which they are.
    static let mostMoved = 4_096

    /// The items that moved, and their parents before and after.
    package struct Moved: Equatable {
        /// The items, some of them more than once.
        package var items: [String] = []
        /// The parents of these items, before and after, whether or not they exist.
        package var parents: Set<String> = []
    }

    private let table: RowTable
    /// The moved items; nil: not known.
    private var moved: Moved?
    /// The version at the last ``takeMoved()``.
    private var takenVersion: UInt64 = 0
    private var flatness: (version: UInt64, isFlat: Bool)?

    init(_ table: RowTable) { self.table = table }

    /// A number that changes when an item is added, removed or moved to another parent.
    package var version: UInt64 { table.treeVersion }

    /// Whether no item has a parent that exists: all items are roots.
    package var isFlat: Bool {
        if let flatness, flatness.version == version { return flatness.isFlat }
        let isFlat = table.roots.count == table.count
        flatness = (version, isFlat)
        return isFlat
    }

    /// Whether any item names a parent, there or not.
    package var hasChildren: Bool { !table.children.isEmpty }

    /// Returns the number of items directly under one, which itself need not exist.
    package func childCount(of id: String) -> Int { table.children[id]?.count ?? 0 }

    /// Returns the parent that an item names, whether or not it exists; nil: it names none, or there is no such item.
    package func parent(of id: String) -> String? { table.row(of: id).flatMap(table.parent) }

    /// Returns the path to an item, outermost first: its ancestors as far as they exist, and itself; of more than
    /// `limit`, the innermost.
    package func way(to id: String, limit: Int) -> [String] {
        var way: [String] = []
        var row = table.row(of: id)
        while let found = row, way.count < limit {
            let id = table.id(of: found)
            // Items that lie under one another have no outermost.
            guard !way.contains(id) else { break }
            way.append(id)
            row = table.parent(of: found).flatMap(table.row)
        }
        return way.reversed()
    }

    /// Returns the items that were added, removed or moved since the last call; nil: it is not known which.
    ///
    /// Items that became roots, or are no roots any more, because their parent came or went, are not among them.
    package func takeMoved() -> Moved? {
        defer { (moved, takenVersion) = (Moved(), version) }
        return takenVersion == version ? Moved() : moved
    }

    /// Records that an item was added, removed or moved to a parent from a former one, once a reader has called.
    func recordMove(
        of id: @autoclosure () -> String, to parent: String?, from former: String? = nil
    ) {
        guard let count = moved?.items.count else { return }
        guard count < Self.mostMoved else {
            moved = nil
            return
        }
        moved?.items.append(id())
        if let parent { moved?.parents.insert(parent) }
        if let former { moved?.parents.insert(former) }
    }
}
