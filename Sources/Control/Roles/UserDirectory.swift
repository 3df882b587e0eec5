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
        /// Who waits to be told of a user that is being asked about.
        var waiting: [UInt32: [@Sendable () -> Void]] = [:]
    }

    /// How long what it said counts.
    static let memory = Duration.seconds(10)
    /// So many users are remembered at most.
    private static let most = 16_384

    private let ask: @Sendable (UInt32) -> Entry
    private let patience: DispatchTimeInterval
    private let questions = DispatchQueue(label: "atrium.users")
    private let timers = DispatchQueue(label: "atrium.users.patience")
    private let state = Mutex(State())

    /// A directory of which nothing is known yet.
    ///
    /// - Parameters:
    ///   - patience: how long somebody waits for it at most.
    ///   - ask: what it says of a user; may block.
    init(
        patience: DispatchTimeInterval = .seconds(2),
        ask: @escaping @Sendable (UInt32) -> Entry = UserDirectory.system
    ) {
        self.patience = patience
        self.ask = ask
    }

    /// What is known of a user; nil: nothing yet.
    ///
    /// What is old is asked again meanwhile.
    func entry(of uid: UInt32, _ changed: @escaping @Sendable () -> Void) -> Entry? {
        let now = ContinuousClock.now
        let (entry, isOld) = state.withLock { state -> (Entry?, Bool) in
            guard let known = state.known[uid] else { return (nil, false) }
            let isOld = known.until <= now && !known.isAsked
            if isOld { state.known[uid]?.isAsked = true }
            return (known.entry, isOld)
        }
        if isOld {
            questions.async { [self] in
                if learn(ask(uid), of: uid) { changed() }
            }
        }
        return entry
    }

    /// What is remembered of a user, however old.
    func remembered(_ uid: UInt32) -> Entry? { state.withLock { $0.known[uid]?.entry } }

    /// Asks about a user of whom nothing is known, and calls back once that is over, or patience is.
    func learn(of uid: UInt32, _ done: @escaping @Sendable () -> Void) {
        let isFirst = state.withLock { state in
            defer { state.waiting[uid, default: []].append(done) }
            return state.waiting[uid] == nil
        }
        guard isFirst else { return }
        questions.async { [self] in
            learn(ask(uid), of: uid)
            release(uid)
        }
        timers.asyncAfter(deadline: .now() + patience) { [self] in release(uid) }
    }

    /// Asks again about everyone it was asked about; blocks.
    func renew() {
        for uid in state.withLock({ Array($0.known.keys) }) { learn(ask(uid), of: uid) }
    }

    private func release(_ uid: UInt32) {
        for done in state.withLock({ $0.waiting.removeValue(forKey: uid) }) ?? [] { done() }
    }

    /// Whether it says something else than before.
    @discardableResult
    private func learn(_ entry: Entry, of uid: UInt32) -> Bool {
        state.withLock { state in
            if state.known[uid] == nil, state.known.count >= Self.most { state.known.removeAll() }
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
