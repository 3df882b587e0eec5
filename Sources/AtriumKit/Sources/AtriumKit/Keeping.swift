extension ComponentContext {
    /// Returns the bytes that an earlier instance passed to ``keep(_:)``; only the first call returns them.
    ///
    /// That instance was made by the same plugin with the same settings; bytes kept with other settings are gone. It
    /// may have been made before a restart of the host, a crash, or the end of a worker. The bytes may be missing at
    /// any time: they are a cache, which neither a backup nor an export contains. The container's fields may have
    /// changed since.
    ///
    /// - Returns: the bytes as they were passed; nil if there are none, or they were returned already.
    public func takeKept() -> [UInt8]? { services.takeKept() }

    /// Makes the host keep bytes for the next instance of this component, in place of those that it keeps.
    ///
    /// A source shows its last good copy with them, if its service can't be reached after a restart. They are written
    /// to the disk some time later, whole or not at all, in a file that only the daemon's user can read. Don't include
    /// secrets. They are deleted when the component is detached, its container is deleted, or its plugin or its
    /// settings change.
    /// settings change.
    ///
    /// ```swift
    /// document = context.takeKept().flatMap(Document.init)
    /// …
    /// try context.keep(document.bytes)
    /// ```
    ///
    /// - Parameter bytes: at most the host's limit `keptBytes`, 16 MiB by default; nil: deletes the kept bytes.
    /// - Throws: a ``Refusal`` for more, which names the limit; the bytes kept before are not changed.
    public func keep(_ bytes: [UInt8]?) throws(Refusal) { try services.keep(bytes) }
}

/// Defaults for a host that keeps nothing.
extension ContextServices {
    /// Returns nil.
    public func takeKept() -> [UInt8]? { nil }
    /// Does nothing.
    public func keep(_ bytes: [UInt8]?) throws(Refusal) {}
}
