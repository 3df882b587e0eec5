internal import AtriumKit
internal import Index
internal import Store

extension Backlog {
    /// How many stored notifications are read at a time.
    private static let slice = 500
    /// The most notifications that one part of the backlog scans, so that other users get their turn.
    private static let most = 2_000

    /// Returns a reader of a store's past, whose reads run beside those that commands wait for.
    ///
    /// Everything that a request covers was committed before the request was made.
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
            // Rows that were trimmed during the read may be missing from it. Then the read is repeated, and the
            // subscriber gets a gap. Trimming before `after` is routine and does not matter.
            let now = try store.trimmedThrough()
            if now == trimmed || now <= request.after { return }
            trimmed = now
        }
    }

    private init(
        _ request: BacklogRequest, from store: Store, trimmedThrough: Int64
    ) throws(StoreError) {
        self.init(
            notifications: [], through: request.after, trimmedThrough: trimmedThrough,
            asOf: store.lastSequence)
        var looked = 0
        var bytes = 0
        while looked < Self.most {
            let past = try store.notifications(after: through, limit: Self.slice) {
                topic in request.patterns.contains { $0.matches(topic) }
            }
            let wanted = past.notifications.prefix { $0.sequence <= request.through }.map {
                (content: BusNotification($0), isDamaged: $0.isDamaged)
            }
            let texts = try texts(
                of: wanted.lazy.filter { !$0.isDamaged }.map(\.content), in: store)
            var missing = past.missing[...]
            for (found, isDamaged) in wanted {
                let goesOn =
                    recordMissing(&missing, before: found.sequence ?? 0)
                    && (isDamaged
                        ? recordDamaged(found) : append(found, texts, request, bytes: &bytes))
                guard goesOn else { return }
            }
            guard recordMissing(&missing, before: request.through + 1) else { return }
            guard let last = past.through, last < request.through else {
                through = request.through
                return
            }
            through = last
            looked += Self.slice
        }
    }

    /// Appends a notification and returns true; returns false when it does not fit.
    private mutating func append(
        _ found: BusNotification, _ texts: [RecordKey: CommentText], _ request: BacklogRequest,
        bytes: inout Int
    ) -> Bool {
        let text = found.comment.flatMap { texts[$0] }
        bytes += found.cost(with: text)
        let fits = notifications.count < request.limit && bytes <= request.maxBytes
        guard fits || notifications.isEmpty else { return false }
        notifications.append(found)
        if let comment = found.comment { self.texts[comment] = text }
        through = found.sequence ?? through
        return true
    }

    /// Records a damaged notification, which is delivered to no subscriber; returns false when notifications precede
    /// it in this part, which then ends before it: the next one begins with the gap.
    private mutating func recordDamaged(_ found: BusNotification) -> Bool {
        guard let sequence = found.sequence else { return true }
        damage.add(sequence, topic: found.topic)
        guard notifications.isEmpty else { return false }
        damaged = (damaged?.lowerBound ?? sequence)...sequence
        through = sequence
        return true
    }

    /// Records the entries before a sequence that are gone; nobody knows what they were about.
    ///
    /// - Returns: as for a damaged notification.
    private mutating func recordMissing(
        _ missing: inout ArraySlice<ClosedRange<Int64>>, before end: Int64
    ) -> Bool {
        while let range = missing.first, range.lowerBound < end {
            guard notifications.isEmpty else { return false }
            missing.removeFirst()
            let last = min(range.upperBound, end - 1)
            damaged = (damaged?.lowerBound ?? range.lowerBound)...last
            through = last
        }
        return true
    }

    /// Returns the current texts of the comments that these notifications are about; a damaged comment has none.
    private mutating func texts(
        of notifications: some Sequence<BusNotification>, in store: Store
    ) throws(StoreError) -> [RecordKey: CommentText] {
        let comments = Array(Set(notifications.compactMap(\.comment)))
        guard !comments.isEmpty else { return [:] }
        var unreadable: [RecordKey] = []
        let records = try store.records(comments, damaged: &unreadable)
        damage.add(unreadable)
        var texts: [RecordKey: CommentText] = [:]
        for (comment, record) in zip(comments, records) {
            guard let record, let value = try? Value(jsonBytes: record.value) else { continue }
            texts[comment] = Comment(key: comment.key, value: value).flatMap(CommentText.init)
        }
        return texts
    }
}

extension BusNotification {
    /// Makes a notification from a stored one, and finds the comment that it is about.
    init(_ stored: StoredNotification) {
        self.init(raw: stored)
        readComment()
    }

    /// Makes a notification from a stored one as it is, with `comment` unset.
    init(raw stored: StoredNotification) {
        self.init(
            sequence: stored.sequence, time: Timestamp(milliseconds: stored.time),
            topic: stored.topic, actor: stored.actor.map(ActorID.init), payload: stored.payload,
            restricted: stored.restricted)
    }

    /// Sets `comment` from the payload, and removes what older daemons stored in the payload: the comment's text, and
    /// a moderator's reason, which only the moderator and the author may see.
    private mutating func readComment() {
        let words = topic.split(separator: ".", omittingEmptySubsequences: false)
        if words.count == 3, words[1] == "comments", words[2] == "moderated",
            var object = (try? Value(jsonBytes: payload))?.object,
            object.removeValue(forKey: "reason") != nil
        {
            payload = Value.object(object).jsonBytes
        }
        guard words.count == 3, words[1] == "comments",
            words[2] == "posted" || words[2] == "edited",
            var object = (try? Value(jsonBytes: payload))?.object,
            let component = object["component"]?.text, let id = object["comment"]?.text
        else { return }
        comment = RecordKey(container: String(words[0]), component: component, key: id)
        if object.removeValue(forKey: "text") != nil { payload = Value.object(object).jsonBytes }
        if restricted != nil { restricted = Payload.object { _ in } }
    }
}
