import Interfaces
import Synchronization
import Varlink

/// Says what each peer may do, by a table that may be replaced while peers are served.
///
/// It remembers what it found for a while: looking up groups may ask a directory server.
public final class AccessBook: Sendable {
    /// Whose access is remembered: a user's processes may run with different groups.
    private struct Credentials: Hashable {
        var uid: UInt32
        var gid: UInt32

        init(_ peer: Peer) {
            uid = peer.uid
            gid = peer.gid
        }
    }

    private struct State {
        var table: RoleTable
        /// Counts the tables: what was found by an older one is not remembered.
        var version = 0
        var known: [Credentials: (access: Access, until: ContinuousClock.Instant)] = [:]
    }

    private let state: Mutex<State>

    /// A book that goes by a table.
    public init(_ table: RoleTable) { state = Mutex(State(table: table)) }

    /// Goes by another table from now on, also for peers that are connected.
    public func replace(_ table: RoleTable) {
        state.withLock { $0 = State(table: table, version: $0.version + 1) }
    }

    /// What a user may do whose connection is gone: by what it has for itself and by its groups.
    ///
    /// The user is given as an actor, such as `unix:1000`; nil for one that is none.
    func access(ofOwner owner: String) -> Access? {
        guard owner.hasPrefix("unix:"), let uid = UInt32(owner.dropFirst("unix:".count)) else {
            return nil
        }
        return state.withLock { $0.table }.access(uid: uid, gid: .max)
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
    /// Who joins a group is noticed within ten seconds.
    func access(of peer: Peer) -> Access {
        let now = ContinuousClock.now
        let who = Credentials(peer)
        let (entry, table, version) = state.withLock { ($0.known[who], $0.table, $0.version) }
        if let entry, entry.until > now { return entry.access }
        let access = table.access(uid: peer.uid, gid: peer.gid)
        state.withLock { state in
            guard state.version == version else { return }
            state.known[who] = (access, now + .seconds(10))
        }
        return access
    }
}
