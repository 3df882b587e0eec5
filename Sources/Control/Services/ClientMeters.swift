import CoreMetrics
import Host

/// The metrics of messages to clients that are no replies, recorded through swift-metrics.
enum ClientMeters {
    private static let delivered = Counter(label: "atrium_notifications_delivered_total")
    private static let revisions = Counter(label: "atrium_screen_revisions_total")
    private static let trimmed = gaps("trimmed")
    private static let transient = gaps("transient")
    private static let damaged = gaps("damaged")
    private static let replaced = gaps("replaced")

    private static func gaps(_ reason: String) -> Counter {
        Counter(label: "atrium_gaps_total", dimensions: [("reason", reason)])
    }

    /// Creates all of them, so that they are exported before they are first counted.
    static func prepare() { _ = (delivered, revisions, trimmed, transient, damaged, replaced) }

    /// Counts a revision that was sent to a screen.
    static func countRevision() { revisions.increment() }

    /// Counts a batch that was sent to a subscriber.
    static func countDelivery(of batch: SubscriptionBatch) {
        delivered.increment(by: batch.notifications.count)
        switch batch.gap?.reason {
        case .trimmed: trimmed.increment()
        case .transient: transient.increment()
        case .damaged: damaged.increment()
        case .replaced: replaced.increment()
        case nil: break
        }
    }
}
