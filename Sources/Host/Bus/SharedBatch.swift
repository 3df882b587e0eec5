public import NIOCore

/// A batch that several subscribers may be told, and its encoded form, which is made once.
///
/// It says what was true when it was put together: `live` too. Who takes it later takes what follows
/// right behind it.
public final class SharedBatch: Sendable {
    /// What it tells.
    public let content: SubscriptionBatch

    /// Whoever was told everything before any place from here to `first` may take it: nothing that
    /// lies between is for its subscribers.
    let start: UInt64
    /// The place of its first notification in the ring.
    let first: UInt64
    /// The place where those go on who took it.
    let end: UInt64
    /// About how many bytes it has.
    let cost: Int

    private let encodedForm = MadeOnce<ByteBuffer>()

    /// A batch of its own, that nobody shares.
    convenience init(_ content: SubscriptionBatch) {
        self.init(content, start: 0, first: 0, end: 0, cost: 0)
    }

    init(_ content: SubscriptionBatch, start: UInt64, first: UInt64, end: UInt64, cost: Int) {
        self.content = content
        self.start = start
        self.first = first
        self.end = end
        self.cost = cost
    }

    /// The batch as bytes.
    ///
    /// - Parameter encode: makes them, if nobody has asked before.
    /// - Returns: the bytes; all who ask share their memory.
    public func encoded(by encode: (SubscriptionBatch) -> ByteBuffer) -> ByteBuffer {
        encodedForm.value { encode(content) }
    }
}
