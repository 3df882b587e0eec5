import Interfaces
import Synchronization
import Varlink

/// Holds the role of each peer, from a table of roles that can be replaced while peers are served.
///
/// A peer has the groups of its process, and those that the system's directory lists for its user. So a user who was
/// just added to a group need not log in again. The directory is queried on separate threads, never on the event loop:
/// when a peer connects, and again later.
public final class AccessBook: Sendable {
    /// The credentials whose access is cached: processes of one user may have different groups.
    ///
    /// All groups are hashed: a user who may map groups (`newgidmap`) can make thousands of sets that differ in one
    /// group.
    struct Credentials: Hashable {
        var uid: UInt32
        var gid: UInt32
        var groups: [UInt32]
        var isSubordinate: Bool

        init(_ peer: Peer) {
            uid = peer.uid
            gid = peer.gid
            groups = peer.groups
            isSubordinate = peer.subordinate != nil
        }

        /// Whether these are a peer's; without making a copy of its groups.
        func match(_ peer: Peer) -> Bool {
            uid == peer.uid && gid == peer.gid && isSubordinate == (peer.subordinate != nil)
                && groups == peer.groups
        }
    }

    /// The cached access of some credentials.
    ///
    /// An object: who reads it counts one reference, not one for each part.
    private final class CachedAccess: Sendable {
        let who: Credentials
        let access: Access
        let until: ContinuousClock.Instant

        init(_ who: Credentials, _ access: Access, until: ContinuousClock.Instant) {
            self.who = who
            self.access = access
            self.until = until
        }
    }

    private struct State {
        var table: RoleTable
        /// Increased by every change that may change the access of known credentials.
        var version = 0
        var known: [Credentials: CachedAccess] = [:]
        /// The entry of ``known`` that was read last.
        ///
        /// Most calls read theirs more than once, and here it is found without hashing.
        var last: CachedAccess?

        /// The cached access of a peer at a time; nil: there is none.
        mutating func access(of peer: Peer, at now: ContinuousClock.Instant) -> Access? {
            if let last, last.until > now, last.who.match(peer) { return last.access }
            guard let entry = known[Credentials(peer)], entry.until > now else { return nil }
            last = entry
            return entry.access
        }
    }

    /// The most credentials that are cached, each with up to 4 KiB of groups.
    static let most = 4_096

    private let directory: UserDirectory
    private let state: Mutex<State>

    /// Calls back after a delay, on any thread.
    public typealias Delay = @Sendable (Duration, @escaping @Sendable () -> Void) -> Void

    /// Creates a book with a table; libdispatch's timers in place of `delay` would wake an idle daemon every second.
    public convenience init(_ table: RoleTable, delay: @escaping Delay) {
        self.init(table, directory: UserDirectory(delay: delay))
    }

    init(_ table: RoleTable, directory: UserDirectory) {
        state = Mutex(State(table: table))
        self.directory = directory
    }

    /// Replaces the table, also for peers that are connected.
    public func replace(_ table: RoleTable) {
        state.withLock { $0 = State(table: table, version: $0.version + 1) }
    }

    /// Makes a table for ``replace(_:)``, and queries the system's directory again for every account that connected.
    ///
    /// Both run on a thread, since the directory may not answer.
    ///
    /// - Parameters:
    ///   - make: makes the table; may block.
    ///   - late: called with the table once all accounts were queried, if that took longer than two seconds.
    /// - Returns: the table, nil if it takes longer than two seconds; and whether all accounts were queried by then.
    public func renew(
        _ make: @escaping @Sendable () -> RoleTable, late: @escaping @Sendable (RoleTable) -> Void
    ) async -> (table: RoleTable?, isComplete: Bool) {
        await withCheckedContinuation { continuation in
            directory.renew(
                after: make, { continuation.resume(returning: ($0, isComplete: $1)) }, late: late)
        }
    }

    /// Finds the owner of a peer's user, and the user's groups; queries the directory if they are not known.
    ///
    /// A user that belongs to another user's range of subordinate users counts as that owner, for example in a
    /// container without root. A user with an account never counts as a subordinate. If the directory does not answer
    /// in time whether there is an account, the peer stays as it is, and ``refusal(of:)`` refuses it. Until the
    /// directory answers about other users, the groups of the process count.
    func identify(_ peer: Peer, _ done: @escaping @Sendable (Peer) -> Void) {
        let (asksForGroups, owner) = state.withLock {
            ($0.table.asksForGroups(of: peer.uid), $0.table.owner(of: peer.uid))
        }
        guard asksForGroups || owner != nil else { return done(peer) }
        let finish = { @Sendable [directory] in
            guard let owner, owner != SubordinateUsers.unknownOwner,
                directory.remembered(peer.uid)?.hasAccount == false
            else { return done(peer) }
            done(peer.belonging(to: owner))
        }
        if entry(of: peer.uid, inRange: owner != nil) != nil { return finish() }
        directory.learn(
            of: peer.uid, inRange: owner != nil, answered: { [self] in forget() }, finish)
    }

    /// Why an identified peer may not connect, as a phrase that follows its name in the log; nil: it may.
    ///
    /// A connection keeps its user for its whole life. So an account must not be taken for a subordinate, and
    /// subordinates must not be taken for separate users.
    func refusal(of peer: Peer) -> String? {
        guard peer.subordinate == nil,
            let owner = state.withLock({ $0.table.owner(of: peer.uid) }),
            directory.remembered(peer.uid)?.hasAccount != true
        else { return nil }
        let other =
            owner == SubordinateUsers.unknownOwner ? "somebody by name" : "uid \(owner)"
        return
            "looking up uid \(peer.uid) (NSS) timed out: /etc/subuid gives it to \(other), and it may be an "
            + "account: 'getent passwd \(peer.uid)' has to answer"
    }

    /// Why a peer may not call a method that wants a role; nil: it may.
    func denial(
        of method: String, wanting role: Role, to peer: Peer
    ) -> Interfaces.Daemon.RoleRequired? {
        let yours = access(of: peer).role
        guard yours < role else { return nil }
        return .init(method: method, role: role.rawValue, yours: yours.rawValue)
    }

    /// Returns the access of a peer.
    ///
    /// A change of groups takes effect at the first or second call after ten seconds.
    func access(of peer: Peer) -> Access {
        let now = ContinuousClock.now
        if let access = state.withLock({ $0.access(of: peer, at: now) }) { return access }
        let (table, version) = state.withLock { ($0.table, $0.version) }
        var groups = peer.groups + [peer.gid]
        if peer.subordinate == nil, table.asksForGroups(of: peer.uid) {
            groups += self.entry(of: peer.uid)?.groups ?? []
        }
        var access = table.access(uid: peer.uid, groups: groups)
        // A process in a container may be there to be denied its owner's rights.
        if peer.subordinate != nil { access = Access(role: min(access.role, .member)) }
        state.withLock { state in
            guard state.version == version else { return }
            if state.known.count >= Self.most { state.known.removeAll() }
            let who = Credentials(peer)
            state.known[who] = CachedAccess(who, access, until: now + UserDirectory.memory)
        }
        return access
    }

    /// The number of cached credentials.
    var count: Int { state.withLock { $0.known.count } }

    private func entry(of uid: UInt32, inRange: Bool = false) -> UserDirectory.Entry? {
        directory.entry(of: uid, inRange: inRange) { [self] in forget() }
    }

    /// Drops cached access, which was derived from outdated answers of the directory.
    private func forget() {
        state.withLock { $0 = State(table: $0.table, version: $0.version + 1) }
    }
}
