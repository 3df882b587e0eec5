/// The destination of a call's replies: a connection, and the call's place in it.
///
/// It holds only a reference and a few numbers, so keeping one costs nothing.
struct CallSlot: Sendable {
    let connection: Connection
    let id: UInt64
    let kind: Kind

    /// The method's index in the table; `table.count` for unknown methods.
    let method: UInt16

    /// The number of bytes of its frame.
    let bytes: UInt32

    /// The time at which the call was read, in nanoseconds; 0 if calls are not measured.
    let started: Int64

    /// The replies that the caller expects.
    enum Kind: UInt8, Sendable {
        /// One reply.
        case single
        /// Any number of replies.
        case more
        /// No reply.
        case oneway
        /// One reply, after which the connection speaks another protocol.
        case upgrade
    }
}

/// An action that a call runs when its peer keeps up.
///
/// It is a type of its own because a closure in a tuple would be wrapped anew, with memory of its own, each time it is
/// kept in an array.
struct WritableAction {
    let slot: CallSlot
    let run: @Sendable () -> Void
}
