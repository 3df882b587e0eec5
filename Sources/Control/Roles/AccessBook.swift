import Interfaces
import Synchronization
import Varlink

/// Says what each peer may do, by a table that may be replaced while peers are served.
///
/// A peer is in the groups that its process has, and in those that the system's directory says its user is in:
/// who has just joined one need not log in anew. The directory is asked on threads of its own, never on the
/// event loop: when somebody connects, and again later.
public final class AccessBook: Sendable {
    /// Whose access is remembered: a user's processes may run with different groups.
    ///
    /// All of it is hashed: whoever may map groups (`newgidmap`) can make thousands that differ in one group.
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
    }

    private struct State {
        var table: RoleTable
        /// Counts what may make another access of the same credentials.
        var version = 0
        var known: [Credentials: (access: Access, until: ContinuousClock.Instant)] = [:]
    }

    /// So many credentials are remembered at most, each with up to 4 KiB of groups.
    static let most = 4_096

    private let directory: UserDirectory
    private let state: Mutex<State>

    /// Comes back after a while, on any thread.
    public typealias Delay = @Sendable (Duration, @escaping @Sendable () -> Void) -> Void

    /// A book that goes by a table.
    ///
    /// - Parameters:
    ///   - table: who has which role.
    ///   - delay: with what it waits; libdispatch's timers would wake an idle daemon each second.
    public convenience init(_ table: RoleTable, delay: @escaping Delay) {
        self.init(table, directory: UserDirectory(delay: delay))
    }

    init(_ table: RoleTable, directory: UserDirectory) {
        state = Mutex(State(table: table))
        self.directory = directory
    }

    /// Goes by another table from now on, also for peers that are connected.
    public func replace(_ table: RoleTable) {
        state.withLock { $0 = State(table: table, version: $0.version + 1) }
    }

    /// Makes another table, for ``replace(_:)``, and asks the system's directory again about every account that
    /// connected: both on a thread, since it may not answer.
    ///
    /// - Parameters:
    ///   - make: makes the table; may block.
    ///   - late: called with the table once everyone was asked about, where that took longer than two seconds.
    /// - Returns: the table, nil if it takes longer than two seconds; and whether everyone was asked about by
    ///   then.
    public func renew(
        _ make: @escaping @Sendable () -> RoleTable, late: @escaping @Sendable (RoleTable) -> Void
    ) async -> (table: RoleTable?, isComplete: Bool) {
        await withCheckedContinuation { continuation in
            directory.renew(
                after: make, { continuation.resume(returning: ($0, isComplete: $1)) }, late: late)
        }
    }

    /// Finds out whose a peer is, and which groups its user is in: away from the loop, where that is not known.
    ///
    /// A user that another one may run processes as is that one: such as in a container without root. An account
    /// is nobody's subordinate, wherever its number lies; where the directory has not said in time whether there
    /// is one, the peer stays as it is, and ``refusal(of:)`` keeps it out. Otherwise the process's own groups
    /// count until the directory answers.
    func identify(_ peer: Peer, _ done: @escaping @Sendable (Peer) -> Void) {
        let (asksForGroups, owner) = state.withLock {
            ($0.table.asksForGroups(of: peer.uid), $0.table.owner(of: peer.uid))
        }
        guard asksForGroups || owner != nil else { return done(peer) }
        let settle = { @Sendable [directory] in
            guard let owner, owner != SubordinateUsers.unknownOwner,
                directory.remembered(peer.uid)?.hasAccount == false
            else { return done(peer) }
            done(peer.belonging(to: owner))
        }
        if entry(of: peer.uid, inRange: owner != nil) != nil { return settle() }
        directory.learn(
            of: peer.uid, inRange: owner != nil, answered: { [self] in forget() }, settle)
    }

    /// Why a peer that was identified may not connect, as it follows on its name in the log; nil: it may.
    ///
    /// A connection keeps its user as long as it lasts: that of an account must not be taken for somebody's
    /// subordinate, nor each subordinate for a user of its own.
    func refusal(of peer: Peer) -> String? {
        guard peer.subordinate == nil,
            let owner = state.withLock({ $0.table.owner(of: peer.uid) }),
            directory.remembered(peer.uid)?.hasAccount != true
        else { return nil }
        let other =
            owner == SubordinateUsers.unknownOwner ? "somebody by name" : "uid \(owner)"
        return
            "the system's directory of users has not said in time whether uid \(peer.uid), which "
            + "/etc/subuid gives to \(other), is an account: 'getent passwd \(peer.uid)' has to answer"
    }

    /// Why a peer may not call a method that wants a role; nil: it may.
    func denial(
        of method: String, wanting role: Role, to peer: Peer
    ) -> Interfaces.Daemon.RoleRequired? {
        let yours = access(of: peer).role
        guard yours < role else { return nil }
        return .init(method: method, role: role.rawValue, yours: yours.rawValue)
    }

    /// What a peer may do.
    ///
    /// Who joins a group is noticed with the first call after ten seconds, or the next.
    func access(of peer: Peer) -> Access {
        let now = ContinuousClock.now
        let who = Credentials(peer)
        let (entry, table, version) = state.withLock { ($0.known[who], $0.table, $0.version) }
        if let entry, entry.until > now { return entry.access }
        var groups = peer.groups + [peer.gid]
        if peer.subordinate == nil, table.asksForGroups(of: peer.uid) {
            groups += self.entry(of: peer.uid)?.groups ?? []
        }
        var access = table.access(uid: peer.uid, groups: groups)
        // What runs in a container may be there to be kept from what its owner may do.
        if peer.subordinate != nil { access = Access(role: min(access.role, .member)) }
        state.withLock { state in
            guard state.version == version else { return }
            if state.known.count >= Self.most { state.known.removeAll() }
            state.known[who] = (access, now + UserDirectory.memory)
        }
        return access
    }

    /// Of how many credentials it is remembered what they may do.
    var count: Int { state.withLock { $0.known.count } }

    private func entry(of uid: UInt32, inRange: Bool = false) -> UserDirectory.Entry? {
        directory.entry(of: uid, inRange: inRange) { [self] in forget() }
    }

    /// What was found by what the directory had said does not count any more.
    private func forget() {
        state.withLock { $0 = State(table: $0.table, version: $0.version + 1) }
    }
}
