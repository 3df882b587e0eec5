/// The items of a list that were added, removed or moved since the last call of the reader, who can then update only
/// what they concern.
package struct MovedItems {
    /// The maximum number of items that are recorded; of more it is not known which they are.
    static let most = 4_096

    /// The items that moved, and their parents before and after.
    package struct Moved: Equatable {
        /// The items, some of them more than once.
        package var items: [String] = []
        /// The parents of these items, before and after, whether or not they exist.
        package var parents: Set<String> = []
    }

    /// The moved items; nil: not known.
    private var moved: Moved?
    /// The tree's version at the last `take(at:)`.
    private var version: UInt64 = 0

    /// Records an item, once a reader has called.
    ///
    /// - Parameters:
    ///   - id: the item.
    ///   - parents: its parents, after and before.
    mutating func record(_ id: @autoclosure () -> String, under parents: String?...) {
        guard let count = moved?.items.count else { return }
        guard count < Self.most else {
            moved = nil
            return
        }
        moved?.items.append(id())
        for case let parent? in parents { moved?.parents.insert(parent) }
    }

    /// Records that more items changed than are listed one by one.
    mutating func forget() { moved = nil }

    /// Returns the items that moved since the last call; nil: it is not known which.
    mutating func take(at version: UInt64) -> Moved? {
        defer { (moved, self.version) = (Moved(), version) }
        return self.version == version ? Moved() : moved
    }
}

extension ContentIndex {
    /// The items that came, went or lie elsewhere since this was called last; nil: that is not known.
    ///
    /// Items whose parent came or went, and which are roots by that or not, are not among them for it.
    package func takeMoved() -> MovedItems.Moved? { moved.take(at: treeVersion) }
}
