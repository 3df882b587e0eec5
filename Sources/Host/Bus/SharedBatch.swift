public import NIOCore

/// A batch that several subscribers may get, and its encoded form, which is made once.
///
/// It is the state at the time when it was made, `live` included. A subscriber that gets it later continues
/// right after it.
public final class SharedBatch: Sendable {
    /// The batch.
    public let content: SubscriptionBatch

    /// A subscriber at any place from here to `first` may get this batch: nothing between them matches its group.
    let start: UInt64
    /// The place of its first notification in the ring.
    let first: UInt64
    /// The place at which its subscribers continue.
    let end: UInt64
    /// About how many bytes the batch has.
    let cost: Int

    private let encodedForm = MadeOnce<ByteBuffer>()

    /// Makes a batch for one subscriber, which is not shared.
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

    /// Returns the encoded batch, which is encoded at the first call only: all callers share its memory.
    public func encoded(by encode: (SubscriptionBatch) -> ByteBuffer) -> ByteBuffer {
        encodedForm.value { encode(content) }
    }
}
