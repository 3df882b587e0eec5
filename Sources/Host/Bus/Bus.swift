public import AtriumKit
public import NIOCore
import Store

/// The notification bus: the subscriptions, and a ring of recent notifications.
///
/// Its guarantees:
///
/// - **Order.** Durable and transient notifications are delivered in the one order in which they were
///   posted, durable ones by ascending sequence. None is delivered twice.
/// - **Gaps.** A subscriber is a cursor, not a queue. One that does not pull costs nothing: the ring evicts
///   what it has not received, and it catches up from the store. In place of notifications that were
///   trimmed, damaged, lost from the store, or transient and evicted, it gets a gap.
/// - **Start.** A subscription without `after` begins with what is posted after `subscribe` returned.
///   With `after` it begins after that sequence, and gets transient notifications posted since `subscribe`.
/// - **Waking.** A pull that finds nothing returns nil. The subscriber is woken once, and pulls again.
///   When it pulls in a later turn of the loop, one batch holds everything posted meanwhile.
/// - **Texts.** A comment's text is kept in its record only. A notification about the comment is delivered
///   with the text that the record has at that moment: none once the comment was deleted or purged, and
///   only to moderators while it is held.
/// - **Sharing.** Subscribers of the same topics with the same rights get the same batches. Each batch
///   is made once and encoded once, however many subscribers there are.
/// - **Bounds.** The ring holds at most 4,096 notifications and 4 MiB, a batch at most 500 notifications.
///   The batches that are kept for slow subscribers to share hold at most 4 MiB more in total.
///
/// Use it on the event loop only.
public final class Bus {
    /// The bounds of the ring, of batches and of subscriptions.
    public struct Limits: Sendable {
        /// How many recent notifications the ring holds; 4,096 by default.
        public var ringCount = 4_096
        /// How many bytes the ring holds, and as many the kept batches in total; 4 MiB by default.
        public var ringBytes = 4 << 20
        /// How many notifications a batch may have; 500 by default.
        public var batchCount = 500
        /// How many patterns a subscription may have; 64 by default.
        public var patterns = 64

        /// The defaults.
        public init() {}
    }

    /// The sequence of the last durable entry, with or without a notification.
    public private(set) var lastSequence: Int64

    let limits: Limits
    let loop: any EventLoop
    let backlog: BacklogReader
    let names: (ActorID) -> String?
    /// Whether a comment on an item, or on the container, can be read at present.
    var isReadable: (RecordKey, _ item: String?) -> Bool = { _, _ in true }
    /// Called with the damage that a read of the past found.
    var foundDamage: (PastDamage) -> Void = { _ in }
    let texts: CommentTexts
    var ring: NotificationRing
    var subscriptions: [SubscriptionID: Subscription] = [:]
    var groups: [SubscriptionGroup.Key: SubscriptionGroup] = [:]
    private let patterns = PatternTree<SubscriptionGroup>()
    /// How many patterns all groups have together.
    private var patternCount = 0
    /// The scans of the ring that are too long to make during a pull; users take turns.
    var scans = UserTurns<() -> Void>()
    /// Whether the next scan is scheduled.
    var isScanning = false
    /// How many more bytes of batches the groups may keep.
    var sharedBytesLeft: Int
    var observers: Observers
    /// Parts of the past that were read before this sequence must be read again: something in them was erased.
    var erasedThrough: Int64 = 0
    private var lastID: UInt64 = 0

    /// Makes a bus that continues after the last stored entry; `backlog` reads the stored past off the loop, and
    /// `names` returns nil for an erased or unknown actor.
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

    /// Posts a notification, with the text of the comment that it is about, to the ring, wakes the waiting
    /// subscribers that want it and queues it for observers.
    ///
    /// A durable notification must be posted at its commit, in the order of sequences.
    public func post(_ notification: BusNotification, says text: CommentText? = nil) {
        if let sequence = notification.sequence { advance(to: sequence) }
        let posted = ring.append(notification, order: lastSequence, text)
        if let comment = notification.comment { texts.add(comment, text) }
        var woken: [Subscription] = []
        for group in groupsToWake(by: notification.topic) {
            group.markAllBusy(at: posted.position, into: &woken)
        }
        while let evicted = ring.evict() {
            for group in groups.values { group.recordEviction(of: evicted) }
            if let comment = evicted.content.comment { texts.release(comment) }
        }
        observers.enqueue(notification, text)
        // Last, since a subscriber that is woken may pull during the call.
        for subscription in woken where !subscription.hasEnded { subscription.wake() }
    }

    /// Advances `lastSequence` past an entry that has no notification.
    public func advance(to sequence: Int64) {
        lastSequence = max(lastSequence, sequence)
    }

    /// Subscribes to topics.
    ///
    /// - Parameters:
    ///   - patterns: the patterns; a topic must match at least one of them.
    ///   - after: the cursor to begin after; nil: from now on; 0: everything that is kept. A cursor ahead of the
    ///     last sequence belongs to another store: the subscriber gets a gap.
    ///   - isOfOther: whether `after` is a cursor of another store. Then the subscriber gets one gap for
    ///     everything so far, and continues from now.
    ///   - seesRestricted: whether restricted parts, the texts of held comments, and the actors of such
    ///     notifications are delivered.
    ///   - user: the owner; users take turns with reads of the past.
    ///   - wake: called on the loop, once after each pull that returned nil.
    /// - Returns: the subscription's id.
    /// - Throws: `HostError.topicInvalid`, `.parameterInvalid` or `.limitExceeded`.
    public func subscribe(
        patterns: [String], after: Int64?, isOfOther: Bool = false, seesRestricted: Bool,
        by user: String = "", wake: @escaping @Sendable () -> Void
    ) throws(HostError) -> SubscriptionID {
        let patterns = try checked(patterns)
        if let after { try HostLimits.check(Int(after), from: 0, "after") }
        let cursor = isOfOther ? lastSequence : min(after ?? lastSequence, lastSequence)
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

    /// Ends a subscription; a pull that is waiting for the store gets nil.
    public func unsubscribe(_ id: SubscriptionID) {
        guard let subscription = subscriptions.removeValue(forKey: id) else { return }
        let group = subscription.group
        sharedBytesLeft += group.remove(subscription)
        guard group.isEmpty else { return }
        groups[group.key] = nil
        patternCount -= group.patterns.count
        for pattern in group.patterns { patterns.remove(pattern, of: group) }
    }

    /// Ends all subscriptions and observers.
    public func close() {
        for id in subscriptions.keys { unsubscribe(id) }
        observers.removeAll()
    }

    /// Adds a component in the daemon as an observer; it gets no restricted parts.
    ///
    /// `handler` is called on the loop, in order, once for each notification that matches any of the observer's
    /// patterns; never during `post`.
    public func observe(
        _ pattern: TopicPattern, _ handler: @escaping (Notification) -> Void
    ) -> ObserverID {
        let id = ObserverID(number: nextID())
        observers.add(id, pattern, handler)
        return id
    }

    /// Adds a pattern to an observer, from now on.
    public func observe(_ pattern: TopicPattern, by id: ObserverID) {
        observers.add(pattern, to: id)
    }

    /// Removes an observer; notifications that are queued for it are dropped.
    public func stopObserving(_ id: ObserverID) {
        observers.remove(id)
    }

    /// The groups whose waiting members want a topic.
    private func groupsToWake(by topic: String) -> [SubscriptionGroup] {
        // To compare a few patterns takes less than to find them by the topic's words.
        guard patternCount <= Self.fewPatterns else {
            return patterns.owners(of: topic).filter(\.hasWaiting)
        }
        return groups.values.filter { $0.hasWaiting && $0.matches(topic) }
    }

    private static var fewPatterns: Int { 8 }

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
        patternCount += group.patterns.count
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
