internal import AtriumKit
internal import Store

extension Backlog {
    /// How many stored notifications are read at a time.
    private static let slice = 500
    /// How many are looked through, at most, for one part: other users wait for their turn.
    private static let most = 2_000

    /// Reads the past from a store, beside the reads that commands wait for.
    ///
    /// What a request asks for was committed before it was made.
    static func reader(of store: Store, by reads: CatchUpReads = CatchUpReads()) -> BacklogReader {
        { request, done in
            reads.add(of: request.user) {
                do {
                    done(.success(try Backlog(request, from: store)))
                } catch {
                    done(
                        .failure(
                            .storeUnavailable(
                                reason: "Past notifications can't be read: \(error)",
                                retryAfter: 1)))
                }
            }
        }
    }

    private init(_ request: BacklogRequest, from store: Store) throws(StoreError) {
        var trimmed = try store.trimmedThrough()
        while true {
            self = try Backlog(request, from: store, trimmedThrough: trimmed)
            // What was trimmed meanwhile may be missing: then it is read again, with the gap told.
            let now = try store.trimmedThrough()
            if now == trimmed { return }
            trimmed = now
        }
    }

    private init(
        _ request: BacklogRequest, from store: Store, trimmedThrough: Int64
    ) throws(StoreError) {
        self.init(
            notifications: [], through: request.after, trimmedThrough: trimmedThrough)
        var looked = 0
        var bytes = 0
        while looked < Self.most {
            let stored = try store.notifications(after: through, limit: Self.slice)
            for notification in stored {
                guard notification.sequence <= request.through else {
                    through = request.through
                    return
                }
                if request.patterns.contains(where: { $0.matches(notification.topic) }) {
                    let found = BusNotification(notification)
                    bytes += found.cost
                    let fits = notifications.count < request.limit && bytes <= request.maxBytes
                    guard fits || notifications.isEmpty else { return }
                    notifications.append(found)
                }
                through = notification.sequence
            }
            guard stored.count == Self.slice else {
                through = request.through
                return
            }
            looked += stored.count
        }
    }
}

extension BusNotification {
    /// A notification as the store kept it.
    init(_ stored: StoredNotification) {
        self.init(
            sequence: stored.sequence, time: Timestamp(milliseconds: stored.time),
            topic: stored.topic, actor: stored.actor.map(ActorID.init), payload: stored.payload,
            restricted: stored.restricted)
    }
}
