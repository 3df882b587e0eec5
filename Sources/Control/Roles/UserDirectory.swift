import Dispatch
import Glibc
import Synchronization

/// What the system's directory (NSS: files, LDAP, …) says of users: asked on a thread of its own, since it may
/// take as long as a network does, and remembered.
final class UserDirectory: Sendable {
    /// What it says of one user.
    struct Entry: Sendable, Hashable {
        /// Whether there is an account.
        var hasAccount: Bool
        /// The numbers of the groups that it is in.
        var groups: [UInt32]

        /// Nobody knows.
        static let unknown = Entry(hasAccount: false, groups: [])
    }

    private struct Remembered {
        var entry: Entry
        var isAsked = false
        var until: ContinuousClock.Instant
    }

    private struct State {
        var known: [UInt32: Remembered] = [:]
        /// Who waits for what it says of a user; without anybody: it has not answered yet.
        var waiting: [UInt32: [Waiter]] = [:]
    }

    /// How long what it said counts.
    static let memory = Duration.seconds(10)
    /// So many users are remembered at most.
    static let most = 16_384

    private let ask: @Sendable (UInt32) -> Entry
    private let delay: AccessBook.Delay
    private let patience: Duration?
    private let questions = DispatchQueue(label: "atrium.users")
    /// Where it is asked about users in a range of `/etc/subuid`: one person may connect as 65,536 of them, which
    /// is to keep nobody else waiting.
    private let rangeQuestions = DispatchQueue(label: "atrium.users.ranges")
    private let renewals = DispatchQueue(label: "atrium.users.renewals")
    private let state = Mutex(State())

    /// A directory of which nothing is known yet.
    ///
    /// - Parameters:
    ///   - patience: how long somebody waits for it at most; nil: for ever.
    ///   - delay: comes back after a while.
    ///   - ask: what it says of a user; may block.
    init(
        patience: Duration? = .seconds(2), delay: @escaping AccessBook.Delay,
        ask: @escaping @Sendable (UInt32) -> Entry = UserDirectory.system
    ) {
        self.patience = patience
        self.delay = delay
        self.ask = ask
    }

    /// What is known of a user; nil: nothing yet.
    ///
    /// What is old is asked again meanwhile.
    ///
    /// - Parameters:
    ///   - uid: the user.
    ///   - inRange: whether it is in a range of `/etc/subuid`.
    ///   - changed: called where it says something else than before.
    /// - Returns: what it said last.
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

    /// What is remembered of a user, however old.
    func remembered(_ uid: UInt32) -> Entry? { state.withLock { $0.known[uid]?.entry } }

    /// How many users are remembered, and asked about.
    var count: Int { state.withLock { max($0.known.count, $0.waiting.count) } }

    /// Asks about a user of whom nothing is known.
    ///
    /// - Parameters:
    ///   - uid: the user.
    ///   - inRange: whether it is in a range of `/etc/subuid`.
    ///   - answered: called once it has answered, however late, for the first who asks.
    ///   - done: called once it has answered, or patience is over.
    func learn(
        of uid: UInt32, inRange: Bool = false, answered: @escaping @Sendable () -> Void,
        _ done: @escaping @Sendable () -> Void
    ) {
        let waiter = Waiter(done)
        let isFirst = state.withLock { state -> Bool? in
            let waiting = state.waiting[uid]
            // While it does not answer, so many questions wait for it at most.
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

    /// Asks again about every account that it was asked about, on a thread.
    ///
    /// Who has no account is in no groups that could have been taken away.
    ///
    /// - Parameters:
    ///   - first: asks the system something else before, on the same thread.
    ///   - done: called once, when everyone was asked about or patience is over: with what `first` gave, nil
    ///     where it has not ended, and whether everyone was asked about.
    ///   - late: called with what `first` gave once everyone was asked about, where patience was over before.
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

    /// Whether it says something else than before.
    @discardableResult
    private func learn(_ entry: Entry, of uid: UInt32) -> Bool {
        state.withLock { state in
            if state.known[uid] == nil, state.known.count >= Self.most {
                // Those without an account first: one person may have made thousands of them known.
                state.known = state.known.filter { $0.value.entry.hasAccount }
                if state.known.count >= Self.most { state.known.removeAll() }
            }
            let before = state.known.updateValue(
                Remembered(entry: entry, until: ContinuousClock.now + Self.memory), forKey: uid)
            return before?.entry != entry
        }
    }

    /// What the system says; blocks.
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

/// Somebody who waits for an answer, no longer than patience lasts.
private final class Waiter: Sendable {
    private let done: Mutex<(@Sendable () -> Void)?>

    init(_ done: @escaping @Sendable () -> Void) { self.done = Mutex(done) }

    /// Calls back, unless that happened before.
    func end() { done.withLock { $0.take() }?() }

    /// Does not wait any more; whether it did.
    func leaves() -> Bool { done.withLock { $0.take() } != nil }
}
