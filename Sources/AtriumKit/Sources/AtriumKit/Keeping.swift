extension ComponentContext {
    /// Gives what an instance of this component before gave to ``keep(_:)``, to the first call alone.
    ///
    /// It was made by the same plugin with the same settings: what was kept with others is gone. It may be from before a
    /// restart of the host, a crash, or the end of a worker, and it may be missing at any time: a host keeps it as a
    /// help, and neither a backup nor an export has it. The container's fields may be others by now.
    ///
    /// - Returns: the bytes as they were given; nil: there are none, or they were given already.
    public func takeKept() -> [UInt8]? { services.takeKept() }

    /// Has the host keep bytes for the instance of this component that is made after this one, instead of those that it
    /// keeps: a source shows its last good copy with them, where its service can't be asked after a restart.
    ///
    /// They are on the disk some time later, whole or not at all, in a file that the daemon's user alone reads. What is
    /// secret stays out of it. They go when the component is detached, its container is deleted, or its plugin or its
    /// settings change.
    ///
    /// ```swift
    /// document = context.takeKept().flatMap(Document.init)
    /// …
    /// try context.keep(document.bytes)
    /// ```
    ///
    /// - Parameter bytes: at most as many as the host's limit `keptBytes` says, 16 MiB by default; nil: nothing is to be
    ///   kept any more.
    /// - Throws: a ``Refusal`` for more, which names the limit; what was kept before is kept on.
    public func keep(_ bytes: [UInt8]?) throws(Refusal) { try services.keep(bytes) }
}

/// A host that keeps nothing.
extension ContextServices {
    /// Gives nothing.
    public func takeKept() -> [UInt8]? { nil }
    /// Keeps nothing.
    public func keep(_ bytes: [UInt8]?) throws(Refusal) {}
}
