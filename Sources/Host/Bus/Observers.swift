internal import AtriumKit
internal import Index
internal import JSONCodec
internal import NIOCore

/// The components that observe topics.
///
/// They are called in a separate turn of the loop, after the component that caused the notification has returned.
/// So two components that reply to each other with notifications can't keep the loop from other work.
final class Observers {
    private struct Observer {
        var patterns: [TopicPattern]
        let handler: (Notification) -> Void
    }

    private let loop: any EventLoop
    private var observers: [ObserverID: Observer] = [:]
    private var pending: [(notification: Notification, observers: [ObserverID])] = []

    init(loop: any EventLoop) { self.loop = loop }

    func add(
        _ id: ObserverID, _ pattern: TopicPattern, _ handler: @escaping (Notification) -> Void
    ) {
        observers[id] = Observer(patterns: [pattern], handler: handler)
    }

    func add(_ pattern: TopicPattern, to id: ObserverID) {
        guard observers[id]?.patterns.contains(pattern) == false else { return }
        observers[id]?.patterns.append(pattern)
    }

    func remove(_ id: ObserverID) { observers[id] = nil }

    func removeAll() { observers = [:] }

    /// Queues a notification, with the text of the comment that it is about, for the observers that match it at this
    /// moment.
    func enqueue(_ notification: BusNotification, _ text: CommentText? = nil) {
        guard !observers.isEmpty else { return }
        let interested = observers.filter { _, observer in
            observer.patterns.contains { $0.matches(notification.topic) }
        }
        guard !interested.isEmpty else { return }
        let ids = interested.keys.sorted { $0.number < $1.number }
        pending.append((notification.observed(with: text), ids))
        guard pending.count == 1 else { return }
        let bound = NIOLoopBound(self, eventLoop: loop)
        // Scheduled: with `execute`, the loop would run it before it serves its sockets, and observers that
        // reply to each other would starve them.
        loop.scheduleTask(in: .microseconds(1)) { bound.value.deliver() }
    }

    private func deliver() {
        let batch = pending
        pending = []
        for (notification, ids) in batch {
            for id in ids { observers[id]?.handler(notification) }
        }
    }
}

extension BusNotification {
    /// Returns the notification as a component receives it: without the restricted part.
    fileprivate func observed(with text: CommentText?) -> Notification {
        let view = view(seesRestricted: false, names: { _ in nil }, text: text)
        // The host writes all payloads as objects; anything else would be delivered as an empty one.
        let value = try? Value(jsonBytes: view.payload)
        return Notification(
            sequence: sequence, time: time, topic: topic, payload: value?.object ?? [:])
    }
}
