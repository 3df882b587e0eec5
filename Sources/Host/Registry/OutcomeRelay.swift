import AtriumKit
import NIOCore
import Store
import Synchronization

/// Brings the store's outcomes from its thread to the registry, which is made after the store.
final class OutcomeRelay: Sendable {
    private struct Target {
        weak var registry: Registry?
        var loop: any EventLoop
    }

    private let target = Mutex<Target?>(nil)

    /// Passes outcomes to this registry from now on; nothing can have been appended before.
    func connect(_ registry: Registry, _ loop: any EventLoop) {
        target.withLock { $0 = Target(registry: registry, loop: loop) }
    }

    /// Takes outcomes on the store's thread.
    func pass(_ outcomes: [Outcome]) {
        guard let target = target.withLock({ $0 }), let registry = target.registry else { return }
        target.loop.execute { registry.assumeIsolated { $0.domain.settle(outcomes) } }
    }
}

extension Store {
    /// How the bus reads the past.
    var backlog: BacklogReader {
        { request, done in
            self.enqueueRead { store in
                done(
                    Result { try store.read(request) }.mapError {
                        .storeUnavailable(
                            reason: "Past notifications can't be read: \($0)", retryAfter: 1)
                    })
            }
        }
    }

    private func read(_ request: BacklogRequest) throws -> Backlog {
        let pageSize = 1_000
        var backlog = Backlog(
            notifications: [], through: request.after, trimmedThrough: try trimmedThrough())
        var bytes = 0
        while backlog.through < request.through {
            let page = try notifications(after: backlog.through, limit: pageSize)
            for notification in page {
                guard notification.sequence <= request.through else { break }
                backlog.through = notification.sequence
                guard request.patterns.contains(where: { $0.matches(notification.topic) })
                else { continue }
                let told = BusNotification(notification)
                backlog.notifications.append(told)
                bytes += told.payload.count + (told.restricted?.count ?? 0) + 100
                if backlog.notifications.count >= request.limit || bytes >= request.maxBytes {
                    return backlog
                }
            }
            if page.count < pageSize || page.last.map({ $0.sequence > request.through }) ?? true {
                backlog.through = request.through
            }
        }
        return backlog
    }
}

extension BusNotification {
    /// A notification as it was stored.
    fileprivate init(_ stored: StoredNotification) {
        self.init(
            sequence: stored.sequence, time: Timestamp(milliseconds: stored.time),
            topic: stored.topic, actor: stored.actor.map { ActorID($0) },
            payload: stored.payload, restricted: stored.restricted)
    }
}
