internal import NIOCore

/// Where a subscriber takes what is at hand.
///
/// It stands beside the registry, for it is asked at each delivery: a closure that the registry's
/// isolation would need is an allocation.
public struct SubscriptionFeed: Sendable {
    /// The subscription.
    public let id: SubscriptionID

    private let bus: NIOLoopBound<Bus>

    init(id: SubscriptionID, bus: Bus) {
        self.id = id
        self.bus = NIOLoopBound(bus, eventLoop: bus.loop)
    }

    /// What the subscriber has not been told yet, as far as it is at hand; see
    /// ``Bus/take(_:maxBytes:)``.
    ///
    /// Called on the loop only.
    public func take(maxBytes: Int) -> TakenBatch {
        bus.value.take(id, maxBytes: maxBytes)
    }
}
