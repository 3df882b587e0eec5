public import AtriumKit
internal import DequeModule
public import NIOCore
import Store

/// The notification bus: everyone who subscribed, and what happened lately.
///
/// What it promises:
///
/// - **Order.** Durable and transient notifications are told in the one order in which they were
///   posted, durable ones by ascending sequence. None is told twice.
/// - **Nothing is lost in silence.** A subscriber is a cursor, not a queue: one that does not pull
///   costs nothing, falls out of the ring of recent notifications, and catches up from the store.
///   Where notifications were trimmed, are damaged or were transient, it gets a gap.
/// - **Now.** A subscription without `after` begins with what is posted after `subscribe` returned.
///   With `after` it begins behind that sequence; of transient ones it is told those posted since.
/// - **Waking.** A pull that finds nothing answers nil; the subscriber is then woken once, and pulls
///   again. Whoever pulls in a later turn of the loop is told in one batch what was posted meanwhile.
/// - **Texts.** What a comment says stands in its record alone: a notification about it tells what that
///   says when a subscriber is told: nothing once it was deleted or purged, to moderators alone while it
///   is held.
/// - **Sharing.** Subscribers of the same topics with the same rights are told the same batches:
///   each is put together once, and encoded once, however many there are.
/// - **Bounds.** The ring holds at most 4,096 notifications and 4 MiB, a batch at most 500. What is
///   kept for subscribers that share and are slow has the ring's bounds once more, all in all.
///
/// Used on the event loop alone, by the registry.
public final class Bus {
    /// How much the bus keeps and gives at once.
    public struct Limits: Sendable {
        /// How many recent notifications are at hand; 4,096 by default.
        public var ringCount = 4_096
        /// How many bytes they may have together; 4 MiB by default.
        public var ringBytes = 4 << 20
        /// How many notifications a batch may have; 500 by default.
        public var batchCount = 500
        /// How many patterns a subscription may have; 64 by default.
        public var patterns = 64

        /// The defaults.
        public init() {}
    }

    /// The sequence through which the domain has moved: the last durable entry that was told.
    public private(set) var lastSequence: Int64

    let limits: Limits
    let loop: any EventLoop
    let backlog: BacklogReader
    let names: (ActorID) -> String?
    /// Whether a comment on an item, or on the container, can be read at present.
    var isReadable: (RecordKey, _ item: String?) -> Bool = { _, _ in true }
    /// Called with the damage that a read of the past has met.
    var foundDamage: (PastDamage) -> Void = { _ in }
    var texts: CommentTexts
    var ring: NotificationRing
    var subscriptions: [SubscriptionID: Subscription] = [:]
    var groups: [SubscriptionGroup.Key: SubscriptionGroup] = [:]
    private let patterns = PatternTree<SubscriptionGroup>()
    /// Looks through the ring for subscribers that have much to look through; users take turns.
    var scans = UserTurns<() -> Void>()
    /// Whether the next of them is scheduled.
    var isScanning = false
    /// How many more bytes the batches may have that groups keep.
    var sharedBytesLeft: Int
    var observers: Observers
    /// What was read of the past before this sequence has to be read again: something in it was erased.
    var erasedThrough: Int64 = 0
    private var lastID: UInt64 = 0

    /// A bus at the end of what is stored.
    ///
    /// - Parameters:
    ///   - loop: where everything happens.
    ///   - lastSequence: the store's last sequence.
    ///   - limits: how much it keeps and gives at once.
    ///   - backlog: reads the stored past, away from the loop.
    ///   - names: an actor's name; nil for an erased or unknown one.
    public init(
        loop: any EventLoop, lastSequence: Int64, limits: Limits = Limits(),
        backlog: @escaping BacklogReader, names: @escaping (ActorID) -> String?
    ) {
        self.loop = loop
        self.lastSequence = lastSequence
        self.limits = limits
        self.backlog = backlog
        self.names = names
        texts = CommentTexts(base: lastSequence)
        ring = NotificationRing(
            maxCount: limits.ringCount, maxBytes: limits.ringBytes, base: lastSequence)
        sharedBytesLeft = limits.ringBytes
        observers = Observers(loop: loop)
    }

    /// How many subscriptions there are.
    public var subscriptionCount: Int { subscriptions.count }

    /// Tells everyone.
    ///
    /// A durable notification is posted at its commit, in the order of sequences.
    ///
    /// - Parameters:
    ///   - notification: what happened.
    ///   - text: what the comment says that it is about.
    public func post(_ notification: BusNotification, says text: CommentText? = nil) {
        if let sequence = notification.sequence { advance(to: sequence) }
        let posted = ring.append(notification, order: lastSequence, text)
        if let comment = notification.comment { texts.add(comment, text) }
        var woken: [Subscription] = []
        if !groups.isEmpty {
            for group in patterns.owners(of: notification.topic) where group.hasWaiting {
                group.rouse(at: posted.position, into: &woken)
            }
        }
        while let evicted = ring.evict() {
            for group in groups.values { group.lose(evicted) }
            if let comment = evicted.content.comment { texts.release(comment) }
        }
        observers.note(notification, text)
        // At last, for whoever is woken may pull at once.
        for subscription in woken where !subscription.hasEnded { subscription.wake() }
    }

    /// Moves on to the sequence of an entry that has no notification.
    public func advance(to sequence: Int64) {
        lastSequence = max(lastSequence, sequence)
    }

    /// Subscribes to topics.
    ///
    /// - Parameters:
    ///   - patterns: what the topics must match: any of these.
    ///   - after: the sequence behind which to begin; nil: from now on; 0: all that is kept. One
    ///     that is ahead of the last sequence belongs to another store, and is told as a gap.
    ///   - isOfOther: whether `after` is a sequence of another store: whatever it is, all is a gap, and it goes on
    ///     from now.
    ///   - seesRestricted: whether payloads are told with their restricted parts, and actors of
    ///     notifications that have one.
    ///   - user: whose subscription it is: reads of the past are made for users in turn.
    ///   - wake: called on the loop, once after each pull that was answered with nil.
    /// - Returns: the subscription's name.
    /// - Throws: `HostError.topicInvalid` or `.limitExceeded`.
    public func subscribe(
        patterns: [String], after: Int64?, isOfOther: Bool = false, seesRestricted: Bool,
        by user: String = "", wake: @escaping @Sendable () -> Void
    ) throws(HostError) -> SubscriptionID {
        let patterns = try checked(patterns)
        let cursor = isOfOther ? lastSequence : min(max(after ?? lastSequence, 0), lastSequence)
        let subscription = Subscription(
            of: group(of: patterns, seesRestricted: seesRestricted), by: user, cursor: cursor,
            position: ring.end, isBehind: cursor < lastSequence, wake: wake)
        if let after, isOfOther {
            subscription.trimmed = SubscriptionBatch.Gap(
                from: 1, to: max(after, lastSequence), reason: .replaced)
        } else if let after, after > lastSequence {
            subscription.trimmed = SubscriptionBatch.Gap(
                from: lastSequence + 1, to: after, reason: .trimmed)
        }
        let id = SubscriptionID(number: nextID())
        subscriptions[id] = subscription
        return id
    }

    /// Ends a subscription; a pull that waits for the store is answered with nil.
    public func unsubscribe(_ id: SubscriptionID) {
        guard let subscription = subscriptions.removeValue(forKey: id) else { return }
        let group = subscription.group
        sharedBytesLeft += group.remove(subscription)
        guard group.isEmpty else { return }
        groups[group.key] = nil
        for pattern in group.patterns { patterns.remove(pattern, of: group) }
    }

    /// Ends all subscriptions and observers.
    public func close() {
        for id in subscriptions.keys { unsubscribe(id) }
        observers.removeAll()
    }

    /// Adds an observer in the daemon, a component, which sees what everyone may see.
    ///
    /// - Parameters:
    ///   - pattern: which topics it wants.
    ///   - handler: called on the loop, in order, once for each notification that matches one of
    ///     the observer's patterns; never from within `post`.
    /// - Returns: the observer's name.
    public func observe(
        _ pattern: TopicPattern, _ handler: @escaping (Notification) -> Void
    ) -> ObserverID {
        let id = ObserverID(number: nextID())
        observers.add(id, pattern, handler)
        return id
    }

    /// Lets an observer hear what matches one pattern more, from now on.
    public func observe(_ pattern: TopicPattern, by id: ObserverID) {
        observers.add(pattern, to: id)
    }

    /// Removes an observer: it is not called any more, also not for what was posted before.
    public func stopObserving(_ id: ObserverID) {
        observers.remove(id)
    }

    private func nextID() -> UInt64 {
        lastID += 1
        return lastID
    }

    private func group(
        of patterns: [TopicPattern], seesRestricted: Bool
    ) -> SubscriptionGroup {
        let key = SubscriptionGroup.Key(patterns: Set(patterns), seesRestricted: seesRestricted)
        if let group = groups[key] { return group }
        let group = SubscriptionGroup(key)
        groups[key] = group
        for pattern in group.patterns { self.patterns.insert(pattern, of: group) }
        return group
    }

    private func checked(_ patterns: [String]) throws(HostError) -> [TopicPattern] {
        guard !patterns.isEmpty else {
            throw .topicInvalid(
                topic: "", reason: "no topic is named; '>' stands for all of them")
        }
        guard patterns.count <= limits.patterns else {
            throw .limitExceeded(limit: "topics", value: limits.patterns, retryAfter: nil)
        }
        var checked: [TopicPattern] = []
        for pattern in patterns { checked.append(try TopicPattern(pattern)) }
        return checked
    }
}
