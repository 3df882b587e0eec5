/// The items of a list that came, went or lie elsewhere since somebody asked last: who asks often finds
/// what that concerns without a look at all else.
struct MovedItems {
    /// Of more than so many it is not known which they are.
    static let most = 4_096

    /// Nil: not known.
    private var ids: [String]?
    /// Which the tree was when somebody asked last.
    private var version: UInt64 = 0

    /// Notes one, once somebody has asked.
    mutating func note(_ id: @autoclosure () -> String) {
        guard let count = ids?.count else { return }
        if count < Self.most { ids?.append(id()) } else { ids = nil }
    }

    /// Notes that more changed than anybody is told.
    mutating func forget() { ids = nil }

    /// Those since this was called last, some of them more than once; nil: it is not known which.
    mutating func take(at version: UInt64) -> [String]? {
        defer { (ids, self.version) = ([], version) }
        return self.version == version ? [] : ids
    }
}

extension ContentIndex {
    /// The items that came, went or lie elsewhere since this was called last; nil: that is not known.
    ///
    /// Items whose parent came or went, and which are roots by that or not, are not among them for it.
    package func takeMoved() -> [String]? { moved.take(at: treeVersion) }
}
