import Store

/// A waiter for an entry, or for the entries before it; exactly one of its methods is called, once.
protocol EntryWaiter: AnyObject {
    /// The entry was committed.
    func committed(_ commit: Commit)
    /// There was nothing to write, and the earlier entries that the answer depends on were committed.
    func unchanged()
    /// Nothing was written.
    func failed(_ error: HostError)
}

/// The owner of entries, which continues with their outcomes: a container.
protocol EntryOwner: AnyObject {
    /// Performs the first step that follows from an entry's outcome; returns whether others follow, of operations
    /// that depended on the entry, of which there may be thousands.
    func handle(_ outcome: Outcome) -> Bool

    /// Performs the next of the other steps; returns whether another one follows.
    func performNext() -> Bool
}

/// An object to update after commits: a container's screens.
protocol ChangeFollower: AnyObject {
    /// Updates it for everything that was committed so far.
    func flush()
}
