import Store

/// Who waits for an entry, or for the entries before it: each is called once.
protocol EntryWaiter: AnyObject {
    /// The entry is on disk.
    func committed(_ commit: Commit)
    /// There was nothing to write, and what the answer rests on is on disk.
    func unchanged()
    /// Nothing was written.
    func failed(_ error: HostError)
}

/// Who has entries written, and goes on with what becomes of them: a container.
protocol EntryOwner: AnyObject {
    /// Does the first thing that follows from what became of an entry.
    ///
    /// - Returns: the others, of operations that rested on the entry; there may be thousands.
    func take(_ outcome: Outcome) -> ArraySlice<Lane<any EntryWaiter>.Step>

    /// Does one of those.
    func perform(_ step: Lane<any EntryWaiter>.Step)
}

/// What shows what is committed, and follows once the commits of the moment are through: a container's screens.
protocol ChangeFollower: AnyObject {
    /// Follows all that happened.
    func flush()
}
