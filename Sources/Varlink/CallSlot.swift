/// Where the answer to one call goes: a connection, and the call's place in it.
///
/// No more than a reference and a few numbers, so that keeping one costs nothing.
struct CallSlot: Sendable {
    let connection: Connection
    let id: UInt64
    let kind: Kind

    /// The method's index in the table; `table.count` for unknown methods.
    let method: UInt16

    /// Bytes of its frame.
    let bytes: UInt32

    /// When it was read, in nanoseconds; 0 where calls are not measured.
    let started: Int64

    /// What the caller expects.
    enum Kind: UInt8, Sendable {
        /// One reply.
        case single
        /// Any number of replies.
        case more
        /// None.
        case oneway
        /// One reply, after which the connection speaks another protocol.
        case upgrade
    }
}

/// What a call wants to be run when its peer keeps up.
///
/// A type of its own: a closure in a tuple would be wrapped anew, with memory of its own, each time it is
/// kept in an array.
struct WritableAction {
    let slot: CallSlot
    let run: @Sendable () -> Void
}
