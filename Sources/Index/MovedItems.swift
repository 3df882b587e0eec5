/// The items of a list that came, went or lie elsewhere since somebody asked last: who asks often finds
/// what that concerns without a look at all else.
package struct MovedItems {
    /// Of more than so many it is not known which they are.
    static let most = 4_096

    /// What moved: the items, and those that others came to lie under, or lie under no more.
    package struct Moved: Equatable {
        /// The items, some of them more than once.
        package var items: [String] = []
        /// What they lie under, and lay under, there or not.
        package var parents: Set<String> = []
    }

    /// The moved items; nil: not known.
    private var moved: Moved?
    /// The tree's version at the last `take(at:)`.
    private var version: UInt64 = 0

    /// Notes one, once somebody has asked.
    ///
    /// - Parameters:
    ///   - id: the item.
    ///   - parents: what it lies under, and what it lay under.
    mutating func note(_ id: @autoclosure () -> String, under parents: String?...) {
        guard let count = moved?.items.count else { return }
        guard count < Self.most else {
            moved = nil
            return
        }
        moved?.items.append(id())
        for case let parent? in parents { moved?.parents.insert(parent) }
    }

    /// Notes that more items changed than are listed one by one.
    mutating func forget() { moved = nil }

    /// Those since this was called last; nil: it is not known which.
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
