/// Failures that tests inject; without any, nothing of this has an effect.
///
/// Each hook runs on the writer's thread inside the transaction; what it throws fails the write there.
package struct Faults: Sendable {
    /// Called before the deletion of so many purged rows is committed.
    package var beforeDeletion: (@Sendable (_ rows: Int) throws -> Void)?

    /// Makes a set of hooks; by default none.
    package init(
        beforeDeletion: (@Sendable (_ rows: Int) throws -> Void)? = nil
    ) {
        self.beforeDeletion = beforeDeletion
    }
}

/// What a hook throws.
package struct InjectedFault: Error {
    /// True for an error of the storage, which stops all writing; false for one of the entry alone.
    package var isStorage: Bool

    /// Makes a fault of the storage or of the entry.
    package init(isStorage: Bool) {
        self.isStorage = isStorage
    }
}
