import Dispatch
import Glibc
import Synchronization

/// Queries the system's directory of users (NSS: files, LDAP, …), and caches the answers.
///
/// Queries run on a separate thread, since they may take as long as a network does.
final class UserDirectory: Sendable {
    /// The directory's answer about one user.
    struct Entry: Sendable, Hashable {
        /// Whether there is an account.
        var hasAccount: Bool
        /// The ids of its groups.
        var groups: [UInt32]

        /// No answer.
        static let unknown = Entry(hasAccount: false, groups: [])
    }

    private struct Remembered {
        var entry: Entry
        var isAsked = false
        var until: ContinuousClock.Instant
    }

    private struct State {
        var known: [UInt32: Remembered] = [:]
        /// The callers waiting for an answer about a user; an empty list: a query is running.
        var waiting: [UInt32: [Waiter]] = [:]
    }

    /// The time for which an answer is valid.
    static let memory = Duration.seconds(10)
    /// The most users that are cached.
    static let most = 16_384

    private let ask: @Sendable (UInt32) -> Entry
    private let delay: AccessBook.Delay
    private let patience: Duration?
    private let questions = DispatchQueue(label: "atrium.users")
    /// The queue for queries about subordinate users.
    ///
    /// One person may connect as all 65,536 users of a range in `/etc/subuid`, so they must not delay other queries.
    private let rangeQuestions = DispatchQueue(label: "atrium.users.ranges")
    private let renewals = DispatchQueue(label: "atrium.users.renewals")
    private let state = Mutex(State())

    /// Creates a directory without any answers.
    ///
    /// - Parameters:
    ///   - patience: the longest that a caller waits for an answer; nil: without limit.
    ///   - delay: calls back after a delay.
    ///   - ask: queries the system; may block.
    init(
        patience: Duration? = .seconds(2), delay: @escaping AccessBook.Delay,
        ask: @escaping @Sendable (UInt32) -> Entry = UserDirectory.system
    ) {
        self.patience = patience
        self.delay = delay
        self.ask = ask
    }

    /// The last answer about a user, nil if there is none yet; `changed` is called if the new answer differs.
    ///
    /// An expired answer is returned too, and queried again meanwhile.
    func entry(
        of uid: UInt32, inRange: Bool = false, _ changed: @escaping @Sendable () -> Void
    ) -> Entry? {
        let now = ContinuousClock.now
        let (entry, isOld) = state.withLock { state -> (Entry?, Bool) in
            guard let known = state.known[uid] else { return (nil, false) }
            let isOld = known.until <= now && !known.isAsked
            if isOld { state.known[uid]?.isAsked = true }
            return (known.entry, isOld)
        }
        if isOld {
            (inRange ? rangeQuestions : questions).async { [self] in
                if learn(ask(uid), of: uid) { changed() }
            }
        }
        return entry
    }

    /// The cached answer about a user, even if it has expired.
    func remembered(_ uid: UInt32) -> Entry? { state.withLock { $0.known[uid]?.entry } }

    /// The number of users that are cached, or being queried.
    var count: Int { state.withLock { max($0.known.count, $0.waiting.count) } }

    /// Queries a user without a cached answer; `answered` is called once there is one, however late, for the first
    /// caller, and `done` then, or once patience is over.
    func learn(
        of uid: UInt32, inRange: Bool = false, answered: @escaping @Sendable () -> Void,
        _ done: @escaping @Sendable () -> Void
    ) {
        let waiter = Waiter(done)
        let isFirst = state.withLock { state -> Bool? in
            let waiting = state.waiting[uid]
            // Limits the queries that wait while the directory does not answer.
            guard waiting != nil || state.waiting.count < Self.most else { return nil }
            state.waiting[uid] = (waiting ?? []) + [waiter]
            return waiting == nil
        }
        guard let isFirst else { return done() }
        whenPatienceIsOver { [self] in
            waiter.end()
            state.withLock { $0.waiting[uid]?.removeAll { $0 === waiter } }
        }
        guard isFirst else { return }
        (inRange ? rangeQuestions : questions).async { [self] in
            learn(ask(uid), of: uid)
            answered()
            let waiting = state.withLock { $0.waiting.removeValue(forKey: uid) } ?? []
            for waiter in waiting { waiter.end() }
        }
    }

    /// Queries every known account again, on a thread.
    ///
    /// A user without an account is in no groups, so nothing can have changed.
    ///
    /// - Parameters:
    ///   - first: runs before, on the same thread; may query the system for something else.
    ///   - done: called once, when all accounts were queried or patience is over. It receives the result of `first`,
    ///     nil if that has not ended, and whether all accounts were queried.
    ///   - late: called with the result of `first` once all accounts were queried, if patience was over before.
    func renew<Value: Sendable>(
        after first: @escaping @Sendable () -> Value,
        _ done: @escaping @Sendable (Value?, _ isComplete: Bool) -> Void,
        late: @escaping @Sendable (Value) -> Void
    ) {
        let found = Mutex<Value?>(nil)
        let waiter = Waiter { done(found.withLock { $0 }, false) }
        renewals.async { [self] in
            let value = first()
            found.withLock { $0 = value }
            let accounts = state.withLock { $0.known.filter { $0.value.entry.hasAccount } }
            for uid in accounts.keys { learn(ask(uid), of: uid) }
            if waiter.leaves() { done(value, true) } else { late(value) }
        }
        whenPatienceIsOver { waiter.end() }
    }

    private func whenPatienceIsOver(_ body: @escaping @Sendable () -> Void) {
        if let patience { delay(patience, body) }
    }

    /// Stores an answer; returns whether it differs from the last one.
    @discardableResult
    private func learn(_ entry: Entry, of uid: UInt32) -> Bool {
        state.withLock { state in
            if state.known[uid] == nil, state.known.count >= Self.most {
                // Users without an account are dropped first: one person may have caused thousands of them.
                state.known = state.known.filter { $0.value.entry.hasAccount }
                if state.known.count >= Self.most { state.known.removeAll() }
            }
            let before = state.known.updateValue(
                Remembered(entry: entry, until: ContinuousClock.now + Self.memory), forKey: uid)
            return before?.entry != entry
        }
    }

    /// Queries the system; blocks.
    @Sendable static func system(_ uid: UInt32) -> Entry {
        var account = passwd()
        var found: UnsafeMutablePointer<passwd>?
        var buffer = [CChar](repeating: 0, count: 16 << 10)
        while true {
            let status = getpwuid_r(uid, &account, &buffer, buffer.count, &found)
            guard status == ERANGE, buffer.count < 16 << 20 else { break }
            buffer = [CChar](repeating: 0, count: buffer.count * 2)
        }
        guard found != nil, let name = account.pw_name else { return .unknown }
        var count: Int32 = 64
        var groups = [gid_t](repeating: 0, count: Int(count))
        if getgrouplist(name, account.pw_gid, &groups, &count) < 0 {
            groups = [gid_t](repeating: 0, count: Int(count))
            _ = getgrouplist(name, account.pw_gid, &groups, &count)
        }
        return Entry(hasAccount: true, groups: Array(groups.prefix(Int(count))))
    }
}

/// A caller that waits for an answer, until patience is over.
private final class Waiter: Sendable {
    private let done: Mutex<(@Sendable () -> Void)?>

    init(_ done: @escaping @Sendable () -> Void) { self.done = Mutex(done) }

    /// Calls back, unless it did before.
    func end() { done.withLock { $0.take() }?() }

    /// Stops waiting; returns whether it was waiting.
    func leaves() -> Bool { done.withLock { $0.take() } != nil }
}
